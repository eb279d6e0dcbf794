import Domain

/// A body written as JSON without an encoder, which would take most of a request's time. Such a body has hundreds of
/// records (`RecordText`), or is sent thousands of times a second.
package protocol WrittenBody: Encodable {
    /// JSON, with keys in any order. Nil if only an encoder can write this body.
    var text: [UInt8]? { get }
}

package protocol ReadBody: Decodable {
    /// Decodes only the usual form. Nil for any other JSON, which a decoder then decodes.
    init?(text: some Collection<UInt8>)
}

package typealias RecordsBody = WrittenBody & ReadBody

extension ModifyRequest: RecordsBody {
    package var text: [UInt8]? {
        var text: [UInt8] = []
        text.append(#"{"records":"#)
        RecordPage(records).write(to: &text)
        text.append("}")
        return text
    }

    package init?(text: some Collection<UInt8>) {
        guard let records = try? text.read({ $0.list("}") }) else { return nil }
        self.init(records: records)
    }
}

extension ChangesBody: RecordsBody {
    package var text: [UInt8]? {
        var text: [UInt8] = []
        text.append(#"{"records":"#)
        page.write(to: &text)
        text.append(#","changeToken":"#)
        JSONText.write(changeToken, to: &text)
        text.append(moreComing ? #","moreComing":true,"epoch":"# : #","moreComing":false,"epoch":"#)
        JSONText.write(epoch, to: &text)
        if let zoneID {
            text.append(#","zoneID":"#)
            JSONText.write(zoneID, to: &text)
        }
        text.append("}")
        return text
    }

    package init?(text: some Collection<UInt8>) {
        let body = try? text.read { reader -> ChangesBody? in
            guard let records = reader.list(#","changeToken":"#), let token = reader.string(),
                reader.skip(#","moreComing":"#)
            else { return nil }
            let moreComing = reader.skip("true")
            guard moreComing || reader.skip("false"), reader.skip(#","epoch":"#), let epoch = reader.string() else {
                return nil
            }
            var body = ChangesBody(records: records, changeToken: token, moreComing: moreComing, epoch: epoch)
            if reader.skip(#","zoneID":"#) {
                guard let zoneID = reader.string() else { return nil }
                body.zoneID = zoneID
            }
            return reader.skip("}") ? body : nil
        }
        guard let body else { return nil }
        self = body
    }
}

extension ModifyAnswer: RecordsBody {
    /// Nil if a record was refused, which is rare.
    package var text: [UInt8]? {
        guard results.allSatisfy({ $0.error == nil }) else { return nil }
        var text: [UInt8] = []
        text.append(#"{"results":["#)
        var isFirst = true
        for result in results {
            text.append(isFirst ? #"{"name":"# : #",{"name":"#)
            isFirst = false
            JSONText.write(result.name, to: &text)
            text.append(#","type":"#)
            JSONText.write(result.type, to: &text)
            if let merged = result.merged {
                text.append(#","merged":"#)
                RecordText.write(merged, to: &text)
            }
            text.append("}")
        }
        text.append("],\"serverTime\":\(serverTime)}")
        return text
    }

    package init?(text: some Collection<UInt8>) {
        let answer = try? text.read { reader -> ModifyAnswer? in
            guard reader.skip(#"{"results":["#) else { return nil }
            var results: [Result] = []
            while !reader.skip("]") {
                guard results.isEmpty || reader.skip(","), let result = reader.result() else { return nil }
                results.append(result)
            }
            guard reader.skip(#","serverTime":"#), let time = reader.integer(), reader.skip("}") else { return nil }
            return ModifyAnswer(results: results, serverTime: time)
        }
        guard let answer else { return nil }
        self = answer
    }
}

extension JSONReader {
    /// Decodes the list in the first field, `records`. The text `next` must follow it.
    fileprivate mutating func list(_ next: StaticString) -> [SyncRecord]? {
        guard skip(#"{"records":["#) else { return nil }
        var records: [SyncRecord] = []
        while !skip("]") {
            guard records.isEmpty || skip(","), let record = record() else { return nil }
            records.append(record)
        }
        return skip(next) ? records : nil
    }

    fileprivate mutating func result() -> ModifyAnswer.Result? {
        guard skip(#"{"name":"#), let name = string(), skip(#","type":"#), let type = string() else { return nil }
        var result = ModifyAnswer.Result(type: type, name: name)
        if skip(#","merged":"#) {
            guard let merged = record() else { return nil }
            result.merged = merged
        }
        return skip("}") ? result : nil
    }
}

package import Domain

/// Records of a page of changes, in order. A store that keeps records in wire form adds their texts unchanged.
package struct RecordPage: Sendable {
    /// Nil if the records are in `text`.
    private var list: [SyncRecord]?
    private var text: [UInt8] = []
    package private(set) var count: Int

    package init(_ records: [SyncRecord]) {
        list = records
        count = records.count
    }

    /// - Parameter capacity: probable number of records.
    package init(capacity: Int) {
        count = 0
        text.reserveCapacity(capacity * Self.usualLength)
    }

    /// Estimated size of a record with a handful of properties, in bytes.
    private static let usualLength = 640

    package var records: [SyncRecord] {
        if let list { return list }
        return text.withUnsafeBufferPointer { bytes in
            var reader = JSONReader(bytes)
            var records: [SyncRecord] = []
            records.reserveCapacity(count)
            while let record = reader.record() {
                records.append(record)
                guard reader.skip(",") else { break }
            }
            return records
        }
    }

    package mutating func append(_ record: SyncRecord) {
        count += 1
        guard list == nil else {
            list?.append(record)
            return
        }
        if count > 1 { text.append(UInt8(ascii: ",")) }
        RecordText.write(record, to: &text)
    }

    /// - Returns: false, without appending, for any other form than that of `RecordText`.
    package mutating func append(text record: some Collection<UInt8>) -> Bool {
        let isAppended = record.withContiguousStorageIfAvailable { bytes in
            guard JSONReader.isRecord(bytes) else { return false }
            guard list == nil else {
                var reader = JSONReader(bytes)
                guard let record = reader.record() else { return false }
                append(record)
                return true
            }
            count += 1
            if count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: bytes)
            return true
        }
        return isAppended ?? false
    }

    func write(to body: inout [UInt8]) {
        body.append("[")
        if let list {
            body.reserveCapacity(body.count + count * Self.usualLength)
            for (place, record) in list.enumerated() {
                if place > 0 { body.append(",") }
                RecordText.write(record, to: &body)
            }
        } else {
            body.reserveCapacity(body.count + text.count + 256)
            body.append(contentsOf: text)
        }
        body.append("]")
    }
}

extension RecordPage: Hashable {
    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.records == rhs.records }

    package func hash(into hasher: inout Hasher) { hasher.combine(records) }
}

extension RecordPage: Codable {
    package init(from decoder: any Decoder) throws { self.init(try [SyncRecord](from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try records.encode(to: encoder) }
}

extension JSONReader {
    /// Returns whether the bytes have the form of `RecordText`. Unlike `record`, it accepts repeated properties.
    static func isRecord(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var reader = JSONReader(bytes)
        return reader.passRecord() && reader.isAtEnd
    }

    private mutating func passRecord() -> Bool {
        guard skip(#"{"type":"#), passString(), skip(#","name":"#), passString(), skip(#","properties":{"#) else {
            return false
        }
        var isFirst = true
        while !skip("}") {
            guard isFirst || skip(","), passString(), skip(#":{"value":"#), passSetting(), skip(#","stamp":""#),
                stamp() != nil, bringer() != nil, skip("}")
            else { return false }
            isFirst = false
        }
        if skip(#","deleted":{"stamp":""#) {
            guard stamp() != nil, bringer() != nil else { return false }
            if skip(#","mergedInto":"#), !passString() { return false }
            guard skip("}") else { return false }
        }
        return skip("}")
    }

    private mutating func passSetting() -> Bool {
        guard skip(#"{"string":"#) else { return value() != nil }
        return passString() && skip("}")
    }
}

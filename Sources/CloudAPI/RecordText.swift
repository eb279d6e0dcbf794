package import Domain

/// Writes a record's JSON (`SyncRecord: Codable`) without an encoder, to save time. `SyncRecord(text:)` reads it.
package enum RecordText {
    /// A non-finite double, which `SettingValue.isStorable` refuses, becomes null.
    package static func write(_ record: SyncRecord, to text: inout [UInt8]) {
        text.append(#"{"type":"#)
        JSONText.write(record.key.type.rawValue, to: &text)
        text.append(#","name":"#)
        JSONText.write(record.key.name, to: &text)
        text.append(#","properties":{"#)
        var isFirst = true
        for (name, register) in record.properties {
            if !isFirst { text.append(",") }
            isFirst = false
            JSONText.write(name, to: &text)
            text.append(#":{"value":"#)
            write(register.value, to: &text)
            text.append(#","stamp":""#)
            write(register.stamp, to: &text)
            text.append(#"""#)
            write(bringer: register.broughtBy, to: &text)
            text.append("}")
        }
        text.append("}")
        if let deletion = record.deletion {
            text.append(#","deleted":{"stamp":""#)
            write(deletion.stamp, to: &text)
            text.append(#"""#)
            write(bringer: deletion.broughtBy, to: &text)
            if let target = deletion.mergedInto {
                text.append(#","mergedInto":"#)
                JSONText.write(target, to: &text)
            }
            text.append("}")
        }
        text.append("}")
    }

    private static func write(bringer: HostID?, to text: inout [UInt8]) {
        guard let bringer else { return }
        text.append(#","broughtBy":""#)
        write(bringer, to: &text)
        text.append(#"""#)
    }

    /// In the form of its `description`.
    private static func write(_ stamp: Stamp, to text: inout [UInt8]) {
        write(stamp.milliseconds, to: &text)
        text.append(UInt8(ascii: "."))
        write(UInt64(stamp.counter), to: &text)
        text.append(UInt8(ascii: "."))
        write(stamp.host, to: &text)
    }

    /// Decimal.
    private static func write(_ number: UInt64, to text: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, place) = (number, 20)
            repeat {
                place -= 1
                digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            text.append(contentsOf: UnsafeBufferPointer(rebasing: digits[place...]))
        }
    }

    private static func write(_ host: HostID, to text: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: UUIDText.length) { letters in
            guard let start = letters.baseAddress else { return }
            UUIDText.write(high: host.high, low: host.low, to: start)
            text.append(contentsOf: UnsafeBufferPointer(letters))
        }
    }

    private static func write(_ value: SettingValue, to text: inout [UInt8]) {
        switch value {
        case .null: text.append("null")
        case .bool(let value): text.append(value ? #"{"bool":true}"# : #"{"bool":false}"#)
        case .int(let value): text.append("{\"int\":\(value)}")
        case .double(let value): text.append(value.isFinite ? "{\"double\":\(value)}" : "null")
        case .string(let value):
            text.append(#"{"string":"#)
            JSONText.write(value, to: &text)
            text.append("}")
        }
    }
}

extension [UInt8] {
    mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}

extension SyncRecord {
    /// Reads what `RecordText.write` writes. Nil for JSON in another order, or with white space.
    package init?(text: some Collection<UInt8>) {
        guard let record = try? text.read({ $0.record() }) else { return nil }
        self = record
    }
}

extension JSONReader {
    mutating func record() -> SyncRecord? {
        guard skip(#"{"type":"#), let type = string(), skip(#","name":"#), let name = string(),
            skip(#","properties":{"#)
        else { return nil }
        var properties: [String: Register] = [:]
        while !skip("}") {
            guard properties.isEmpty || skip(","), let property = string(), skip(#":{"value":"#), let value = value(),
                skip(#","stamp":""#), let stamp = stamp(), let bringer = bringer(), skip("}")
            else { return nil }
            // As many as most records have, so that it grows only once.
            if properties.isEmpty { properties.reserveCapacity(6) }
            let register = Register(value: value, stamp: stamp, broughtBy: bringer.host)
            guard properties.updateValue(register, forKey: property) == nil else { return nil }
        }
        var deletion: Deletion?
        if skip(#","deleted":{"stamp":""#) {
            guard let stamp = stamp(), let bringer = bringer() else { return nil }
            deletion = Deletion(stamp: stamp, broughtBy: bringer.host)
            if skip(#","mergedInto":"#) {
                guard let target = string() else { return nil }
                deletion?.mergedInto = target
            }
            guard skip("}") else { return nil }
        }
        guard skip("}") else { return nil }
        return SyncRecord(
            key: RecordKey(type: RecordType(rawValue: type), name: name), properties: properties, deletion: deletion)
    }

    struct Bringer { var host: HostID? }

    /// The host that brought the value, which comes before it if given.
    mutating func bringer() -> Bringer? {
        guard skip(#","broughtBy":""#) else { return Bringer() }
        guard let host = host(), skip(#"""#) else { return nil }
        return Bringer(host: host)
    }

    mutating func value() -> SettingValue? {
        if skip("null") { return .null }
        if skip(#"{"bool":true}"#) { return .bool(true) }
        if skip(#"{"bool":false}"#) { return .bool(false) }
        let value: SettingValue?
        if skip(#"{"int":"#) {
            value = integer().map { .int($0) }
        } else if skip(#"{"double":"#) {
            value = double().map { .double($0) }
        } else if skip(#"{"string":"#) {
            value = string().map { .string($0) }
        } else {
            value = nil
        }
        return skip("}") ? value : nil
    }

    /// Reads a stamp with the closing quote, without intermediate strings.
    mutating func stamp() -> Stamp? {
        guard let milliseconds = decimal(), milliseconds <= Stamp.millisecondsMax, skip("."),
            let counter = decimal().flatMap({ UInt16(exactly: $0) }), skip("."), let host = host(), skip(#"""#)
        else { return nil }
        return Stamp(milliseconds: milliseconds, counter: counter, host: host)
    }

    private mutating func host() -> HostID? {
        uuid().map { HostID(high: $0.high, low: $0.low) }
    }
}

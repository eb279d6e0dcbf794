import Domain

/// Value at a JSON path in a message.
enum SmartPlugPayload: Hashable {
    case number(Double)
    case text(String)
    /// A list instead of an element, because the path ends before an index.
    case list(count: Int)
    /// `null`, or another value that is no measurement.
    case unknown
    case missing

    /// - Parameter path: as in `SmartPlugDescription.Value`.
    /// - Returns: nil if the message is not JSON. With an empty path, the message may be any text.
    static func found(at path: [String], in payload: [UInt8]) -> SmartPlugPayload? {
        guard !path.isEmpty else {
            let text = String(decoding: payload.filter { $0 > 0x20 }, as: UTF8.self)
            return Double(text).map { $0.isFinite ? .number($0) : .unknown } ?? .text(text)
        }
        let trimmed = payload.drop { $0 <= 0x20 }
        let end: Int = trimmed.lastIndex { $0 > 0x20 } ?? trimmed.startIndex
        guard trimmed.first == UInt8(ascii: "{") || trimmed.first == UInt8(ascii: "[") else { return nil }
        return try? trimmed[...end].read { reader in find(path[...], &reader) }
    }

    private static func find(_ path: ArraySlice<String>, _ reader: inout JSONReader) -> SmartPlugPayload? {
        var found: SmartPlugPayload?
        switch (reader.peek, path.first) {
        case (UInt8(ascii: "{"), let name):
            guard reader.open("{") else { return nil }
            while let key = reader.key() {
                if key == name, found == nil { found = find(path.dropFirst(), &reader) } else { reader.passValue() }
            }
            return found ?? .missing
        case (UInt8(ascii: "["), let name):
            guard reader.open("[") else { return nil }
            var count = 0
            while reader.element() {
                if name == "\(count)" { found = find(path.dropFirst(), &reader) } else { reader.passValue() }
                count += 1
            }
            return found ?? (name == nil ? .list(count: count) : .missing)
        case (_, .some): return reader.passValue() ? .missing : nil
        case (UInt8(ascii: "\""), nil): return reader.string().map { .text($0) }
        case (.some(let byte), nil) where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte):
            return reader.double().map { .number($0) }
        default: return reader.passValue() ? .unknown : nil
        }
    }

    /// The measurement; nil without a finite number. Some devices send numbers as texts.
    var number: Double? {
        switch self {
        case .number(let number): number
        case .text(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        case .list, .unknown, .missing: nil
        }
    }
}

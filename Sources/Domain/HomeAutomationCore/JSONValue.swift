/// JSON value. Members keep their order, so that equal values have equal texts.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int)
    /// NaN and infinity become `null`.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package var key: String
        package var value: JSONValue

        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Omits members that are nil.
    package static func members(_ members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { key, value in value.map { Member(key, $0) } })
    }

    package static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// JSON text (RFC 8259) in one line without blanks.
    package var bytes: [UInt8] {
        var text: [UInt8] = []
        write(to: &text)
        return text
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    private func write(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .bool(let flag): text += (flag ? "true" : "false").utf8
        case .int(let number): text += "\(number)".utf8
        case .number(let number): text += (number.isFinite ? "\(number)" : "null").utf8
        case .string(let string): JSONText.write(string, to: &text)
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                element.write(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                JSONText.write(member.key, to: &text)
                text.append(UInt8(ascii: ":"))
                member.value.write(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }
}

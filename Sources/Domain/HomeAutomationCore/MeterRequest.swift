package struct MeterRequest: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case connect(takeover: Bool)
        case disconnect
        case command(MeterCommand)
        case mark(String)
    }

    package var kind: Kind
    /// Chosen by the sender; the response repeats it.
    package var transaction: String?

    package init(_ kind: Kind, transaction: String? = nil) {
        self.kind = kind
        self.transaction = transaction
    }

    package struct Problem: Error, Hashable, Sendable {
        package var message: String
        package var next: String
        /// Chosen by the sender; nil if it could not be decoded.
        package var transaction: String?
    }

    /// Maximum size of a payload in bytes.
    package static let payloadMax = 1024
    private static let transactionMax = 100

    /// Accepts `connect`, `disconnect`, `mark screen on`, `next-screen`, `brightness 3`, or the same as JSON:
    /// `{"command":"brightness","number":3,"transaction":"a1"}`, `{"command":"connect","takeover":true}`.
    package init(_ payload: [UInt8]) throws(Problem) {
        guard payload.count <= Self.payloadMax else {
            throw Problem(
                message: "the payload has \(payload.count) bytes", next: "at most \(Self.payloadMax) are read")
        }
        guard payload.first(where: { $0 > 0x20 }) != UInt8(ascii: "{") else {
            try self.init(json: payload)
            return
        }
        let words = String(decoding: payload, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: true)
            .map { $0.trimmingBlanks }.filter { !$0.isEmpty }
        if words.first == "mark", words.count > 1 {
            self.init(.mark(words.dropFirst().joined(separator: " ")))
            return
        }
        guard let name = words.first, words.count <= 2 else {
            throw Problem(message: "\"\(words.joined(separator: " ").shortened)\" is not a command", next: Self.help)
        }
        var number: Int?
        if words.count == 2 {
            guard let parsed = Int(words[1]) else {
                throw Problem(message: "\"\(words[1].shortened)\" is not a whole number", next: Self.help)
            }
            number = parsed
        }
        self.init(try Self.kind(name, number, takeover: nil))
    }

    private init(json payload: [UInt8]) throws(Problem) {
        let values = try Self.values(payload)
        var transaction: String?
        switch values["transaction"] {
        case nil, .null: break
        case .string(let text)? where text.count <= Self.transactionMax: transaction = text
        case .int(let number)?: transaction = "\(number)"
        default:
            throw Problem(
                message: "the transaction is not text", next: "it takes at most \(Self.transactionMax) characters")
        }
        do throws(Problem) {
            kind = try Self.kind(values)
        } catch {
            throw Problem(message: error.message, next: error.next, transaction: transaction)
        }
        self.transaction = transaction
    }

    /// Parses an object. Nested values are errors, because no request has them.
    private static func values(_ payload: [UInt8]) throws(Problem) -> [String: JSONValue] {
        do throws(JSONReader.Problem) {
            return try payload.read { json in
                var values: [String: JSONValue] = [:]
                guard json.open("{") else { return nil }
                while let key = json.key() {
                    if values[key] == nil { values[key] = value(&json) } else { json.fail(.repeated) }
                }
                return values
            }
        } catch {
            let cause = error.reason == .unwanted ? "its values may be texts and whole numbers only" : "\(error)"
            throw Problem(message: "the payload is not a JSON object: \(cause)", next: help)
        }
    }

    private static func value(_ json: inout JSONReader) -> JSONValue? {
        switch json.peek {
        case UInt8(ascii: "\""): json.string().map { .string($0) }
        case UInt8(ascii: "t"), UInt8(ascii: "f"): json.flag().map { .bool($0) }
        case UInt8(ascii: "n"): json.passValue() ? .null : nil
        default: json.integer().map { .int(Int($0)) }
        }
    }

    private static func kind(_ values: [String: JSONValue]) throws(Problem) -> Kind {
        let known = ["command", "name", "number", "takeover", "transaction"]
        if let other = values.keys.sorted().first(where: { !known.contains($0) }) {
            throw Problem(message: "\"\(other.shortened)\" is unknown", next: help)
        }
        guard case .string(let name)? = values["command"] else {
            throw Problem(message: "the payload names no command", next: help)
        }
        var number: Int?
        switch values["number"] {
        case nil, .null: break
        case .int(let given): number = given
        default: throw Problem(message: "the number is not a whole number", next: help)
        }
        var takeover: Bool?
        switch values["takeover"] {
        case nil, .null: break
        case .bool(let given): takeover = given
        default: throw Problem(message: "takeover is neither true nor false", next: help)
        }
        guard (name == "mark") == (values["name"] != nil) else {
            throw Problem(
                message: name == "mark" ? "the mark has no name" : "\(name.shortened) takes no name", next: help)
        }
        if case .string(let mark)? = values["name"], number == nil, takeover == nil { return .mark(mark) }
        guard values["name"] == nil else {
            throw Problem(message: "a mark takes a name and no other value", next: help)
        }
        return try kind(name, number, takeover: takeover)
    }

    private static func kind(_ name: String, _ number: Int?, takeover: Bool?) throws(Problem) -> Kind {
        switch name {
        case "connect", "disconnect":
            guard number == nil, takeover == nil || name == "connect" else {
                throw Problem(message: "\(name) takes no such value", next: help)
            }
            return name == "connect" ? .connect(takeover: takeover ?? false) : .disconnect
        default:
            guard let kind = MeterCommand.Kind(rawValue: name), takeover == nil else {
                throw Problem(message: "\"\(name.shortened)\" is not a command", next: help)
            }
            // A retained, repeated or misrouted message could draw current or supply a voltage unattended.
            if let consequence = kind.consequence, consequence.needsPerson {
                throw Problem(
                    message: "\(name) \(consequence == .draws ? "draws current" : "supplies a voltage"), "
                        + "and is not done for a broker",
                    next: "meterctl command and the web page do it, and ask first; load-off and source-off are done")
            }
            return .command(MeterCommand(kind, number))
        }
    }

    private static var help: String {
        "it takes connect, disconnect, mark with a name, "
            + MeterCommand.Kind.allCases.filter { $0.consequence?.needsPerson != true }.map(\.rawValue)
            .joined(separator: ", ")
    }
}

extension MeterRequest: CustomStringConvertible {
    package var description: String {
        switch kind {
        case .connect(let takeover): takeover ? "connect with takeover" : "connect"
        case .disconnect: "disconnect"
        case .command(let command): "\(command)"
        case .mark(let name): "mark \(name.shortened)"
        }
    }
}

extension String {
    /// Beginning of the text, for errors about requests: any sender can write a long one.
    fileprivate var shortened: String { count > 40 ? "\(prefix(40).visible)…" : visible }
}

extension Substring {
    fileprivate var trimmingBlanks: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}

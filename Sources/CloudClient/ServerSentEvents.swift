/// Parser of server-sent events (WHATWG HTML), for input in chunks of any size.
///
/// Supports `event:` and `data:`, comments and all three line ends. An event longer than `bytesMax` is an error, so
/// that a broken server cannot fill the memory.
package struct ServerSentEvents: Sendable {
    package struct Event: Hashable, Sendable {
        /// Name of the event; `message` if the stream names none.
        package var name: String
        package var data: String
    }

    package struct TooLong: Error {}

    /// Maximum length of an event in bytes, far above the largest: a lease with its waiting hosts.
    package static let bytesMax = 1 << 20

    private var line: [UInt8] = []
    private var endedWithReturn = false
    private var name = ""
    private var data: [String] = []
    private var bytes = 0

    package init() {}

    /// - Returns: the events that are now complete.
    package mutating func append(_ piece: some Sequence<UInt8>) throws(TooLong) -> [Event] {
        var events: [Event] = []
        for byte in piece {
            defer { endedWithReturn = byte == UInt8(ascii: "\r") }
            switch byte {
            case UInt8(ascii: "\n") where endedWithReturn: break
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if let event = endLine() { events.append(event) }
            default:
                line.append(byte)
                bytes += 1
                guard bytes <= Self.bytesMax else { throw TooLong() }
            }
        }
        return events
    }

    /// Ends an event at an empty line. Nil without data (a keep-alive).
    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer { (name, data, bytes) = ("", [], 0) }
            return data.isEmpty ? nil : Event(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
        }
        let text = String(decoding: line, as: UTF8.self)
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        var value = text[colon...].dropFirst()
        if value.first == " " { value = value.dropFirst() }
        switch text[..<colon] {
        case "event": name = String(value)
        case "data": data.append(String(value))
        default: break
        }
        return nil
    }
}

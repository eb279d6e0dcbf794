/// Framing of messages between a meter and its host in a byte stream.
///
/// A serial line has no messages. Bluetooth LE and USB HID do, and the simulated link must preserve their boundaries.
package struct StreamFraming: Sendable {
    package enum Form: Sendable {
        /// Plain bytes: each read counts as a message.
        case raw
        /// Each message is preceded by its length in bytes, a big-endian number of 16 bits.
        case framed
    }

    package static let longest = Int(UInt16.max)

    private let form: Form
    private var waiting: [UInt8] = []

    package init(_ form: Form) { self.form = form }

    /// Adds received bytes, and returns the complete, non-empty messages.
    package mutating func unwrap(_ bytes: [UInt8]) -> [[UInt8]] {
        guard form == .framed else { return bytes.isEmpty ? [] : [bytes] }
        waiting += bytes
        var messages: [[UInt8]] = []
        var start = 0
        while waiting.count - start >= 2 {
            let length = Int(waiting[start]) << 8 | Int(waiting[start + 1])
            guard waiting.count - start - 2 >= length else { break }
            if length > 0 { messages.append(Array(waiting[(start + 2)..<(start + 2 + length)])) }
            start += 2 + length
        }
        waiting.removeFirst(start)
        return messages
    }

    /// Returns the message in this framing. Splits a message that is longer than `longest`.
    package func wrap(_ message: [UInt8]) -> [UInt8] {
        guard form == .framed else { return message }
        return stride(from: 0, to: message.count, by: Self.longest).flatMap { start in
            let piece = message[start..<min(start + Self.longest, message.count)]
            return [UInt8(truncatingIfNeeded: piece.count >> 8), UInt8(truncatingIfNeeded: piece.count)] + piece
        }
    }
}

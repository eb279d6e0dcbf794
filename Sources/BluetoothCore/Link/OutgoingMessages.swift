/// Messages waiting to be sent, up to a limit.
struct OutgoingMessages {
    /// More bytes than any meter is ever sent at once; a link with this much waiting is stuck.
    static let capacity = 65_536

    private var messages: [[UInt8]] = []
    private var byteCount = 0
    /// How much of the first message has been sent.
    private var offset = 0

    var isEmpty: Bool { messages.isEmpty }

    /// - Returns: false if that would be too much; then nothing is queued.
    mutating func append(_ message: [UInt8]) -> Bool {
        guard !message.isEmpty else { return true }
        guard byteCount + message.count <= Self.capacity else { return false }
        messages.append(message)
        byteCount += message.count
        return true
    }

    /// Removes and returns the next part to send, at most `limit` bytes. Messages never share a packet: some meters
    /// read one command from each.
    mutating func next(atMost limit: Int) -> [UInt8]? {
        guard let message = messages.first else { return nil }
        let part = Array(message[offset...].prefix(max(1, limit)))
        byteCount -= part.count
        offset += part.count
        if offset >= message.count {
            messages.removeFirst()
            offset = 0
        }
        return part
    }
}

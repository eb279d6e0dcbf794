struct OutgoingMessages {
    /// Maximum backlog in bytes, more than any meter needs at once: a link with this backlog is stuck.
    static let capacity = 65_536

    private var messages: [[UInt8]] = []
    private var byteCount = 0
    private var offset = 0

    var isEmpty: Bool { messages.isEmpty }

    /// - Returns: false, without queuing, if the backlog would exceed `capacity`.
    mutating func append(_ message: [UInt8]) -> Bool {
        guard !message.isEmpty else { return true }
        guard byteCount + message.count <= Self.capacity else { return false }
        messages.append(message)
        byteCount += message.count
        return true
    }

    /// Removes and returns at most `limit` bytes. Messages never share a packet, because some meters read only one
    /// command from each packet.
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

/// Joins the chunks of an extended message (USB PD specification 3.1, 6.12.2.1), each with at most 26 bytes. Drops a
/// message with a missing chunk.
package struct PDChunks: Sendable {
    /// Maximum size of a chunk in bytes (Linux, include/linux/usb/pd.h, PD_EXT_MAX_CHUNK_DATA).
    package static let bytesMax = 26

    private var type: UInt8?
    private var size = 0
    private var next = 0
    private var data: [UInt8] = []
    private var last: PDMessage?

    package init() {}

    /// Adds a chunk. Returns the whole message's data after its last chunk; nil before.
    package mutating func add(_ message: PDMessage) -> [UInt8]? {
        guard let header = message.header, let chunk = message.chunk, !chunk.isRequest else { return nil }
        // Ignore a repetition: senders repeat unacknowledged messages.
        guard message != last else { return nil }
        if chunk.number == 0 { (type, size, next, data) = (header.type, chunk.dataSize, 0, []) }
        last = message
        guard type == header.type, size == chunk.dataSize, chunk.number == next else {
            self = PDChunks()
            return nil
        }
        data += message.chunkBytes.prefix(min(Self.bytesMax, size - data.count))
        next += 1
        guard data.count >= size || data.count < next * Self.bytesMax else { return nil }
        defer { self = PDChunks() }
        return data.count == size ? data : nil
    }
}

/// Joins the chunks of an extended message (USB PD specification 3.1, 6.12.2.1). Each chunk contains at most 26 bytes;
/// the message is lost if a chunk is missing.
package struct PDChunks: Sendable {
    /// Number of bytes in a full chunk (Linux, include/linux/usb/pd.h, PD_EXT_MAX_CHUNK_DATA).
    package static let bytesMax = 26

    private var type: UInt8?
    private var size = 0
    private var next = 0
    private var data: [UInt8] = []
    private var last: PDMessage?

    package init() {}

    /// Adds a chunk.
    ///
    /// - Returns: all data of the message after its last chunk; nil before.
    package mutating func add(_ message: PDMessage) -> [UInt8]? {
        guard let header = message.header, let chunk = message.chunk, !chunk.isRequest else { return nil }
        // Ignore a repetition: the sender repeats a message that nobody acknowledged.
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

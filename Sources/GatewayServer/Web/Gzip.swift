import CZlib

/// Compresses files in the format that every browser understands (RFC 1952).
enum Gzip {
    /// - Returns: nil if that would not be shorter.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // 16 plus the bits of the window: with gzip's own header and checksum.
        let isReady = deflateInit2_(
            &stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard isReady == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count)
        // What does not fit into the original's size is not shorter.
        let result = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(source.count))
                (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(target.count))
                return deflate(&stream, Z_FINISH)
            }
        }
        guard result == Z_STREAM_END, stream.avail_out > 0 else { return nil }
        return Array(output.prefix(output.count - Int(stream.avail_out)))
    }
}

import CZlib
import Hummingbird

/// Compresses in a format that every browser supports (RFC 1952).
enum Gzip {
    enum Effort {
        /// For files that are compressed once and sent often.
        case best
        case fast

        fileprivate var level: Int32 {
            switch self {
            case .best: Z_BEST_COMPRESSION
            case .fast: Z_BEST_SPEED
            }
        }
    }

    /// Nil if the compressed bytes would not be shorter.
    static func compress(_ bytes: [UInt8], _ effort: Effort) -> [UInt8]? {
        var stream = z_stream()
        // A window size increased by 16 selects gzip's own header and checksum.
        let isReady = deflateInit2_(
            &stream, effort.level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard isReady == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count)
        // The output buffer is as long as the input: a longer result is useless.
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

extension Request {
    /// Whether the client accepts gzip (RFC 9110, 12.5.3).
    var acceptsGzip: Bool {
        (headers[.acceptEncoding] ?? "").lowercased().split(separator: ",").contains { coding in
            let parts = coding.split(separator: ";").map { $0.filter { $0 != " " } }
            return parts.first == "gzip"
                && !parts.dropFirst().contains { $0.hasPrefix("q=0") && Double($0.dropFirst(2)) == 0 }
        }
    }
}

extension Response {
    private static var gzipBytesMin: Int { 1024 }

    /// Compresses JSON if the client accepts it. Skips streams, whose lines have to be sent immediately.
    func compressed(for request: Request) async throws -> Response {
        guard request.acceptsGzip, headers[.contentEncoding] == nil,
            headers[.contentType]?.hasPrefix("application/json") == true,
            let length = body.contentLength, length >= Self.gzipBytesMin
        else { return self }
        let whole = WholeBody()
        try await body.write(whole)
        var response = self
        response.headers[.vary] = "Accept-Encoding"
        if let short = Gzip.compress(Array(buffer: whole.bytes), .fast) {
            response.headers[.contentEncoding] = "gzip"
            response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: short))
        } else {
            response.body = ResponseBody(byteBuffer: whole.bytes)
        }
        return response
    }
}

private final class WholeBody: ResponseBodyWriter {
    private(set) var bytes = ByteBuffer()

    func write(_ buffer: ByteBuffer) { bytes.writeImmutableBuffer(buffer) }

    func finish(_ trailingHeaders: HTTPFields?) {}
}

import CloudAPI
import FoundationEssentials
import Hummingbird
import NIOCore

/// Encodes and decodes bodies. Keys are sorted for stable output, except in bodies that consist of records.
enum JSON {
    /// Maximum size of a body in bytes: a batch of records and the JSON around it.
    static let bodyBytesMax = CloudLimits.bytesPerBatch + 64 * 1024

    static func encode(_ value: some Encodable) throws -> ByteBuffer {
        if let text = (value as? any WrittenBody)?.text { return ByteBuffer(bytes: text) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(value))
    }

    static func response(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: try encode(value)))
    }

    /// - Throws: `NIOTooManyBytesError` above `bytesMax`, `DecodingError` for an unsuitable body.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from request: Request, upTo bytesMax: Int = bodyBytesMax
    ) async throws -> Value {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > bytesMax {
            throw NIOTooManyBytesError(maxBytes: bytesMax)
        }
        return try decode(type, from: try await request.body.collect(upTo: bytesMax))
    }

    /// Nil if the request has no body.
    static func decodeIfThere<Value: Decodable>(_ type: Value.Type, from request: Request) async throws -> Value? {
        let buffer = try await request.body.collect(upTo: bodyBytesMax)
        return buffer.readableBytes == 0 ? nil : try decode(type, from: buffer)
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, from buffer: ByteBuffer) throws -> Value {
        if let body = type as? any ReadBody.Type, let value = body.init(text: buffer.readableBytesView) as? Value {
            return value
        }
        return try JSONDecoder().decode(type, from: Data(buffer.readableBytesView))
    }
}

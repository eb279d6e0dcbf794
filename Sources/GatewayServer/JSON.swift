import FoundationEssentials
import Hummingbird

/// Encodes and decodes JSON. Sorted keys keep the output stable.
enum JSON {
    /// Maximum size of a JSON request, far beyond any real one.
    static let bodyBytesMax = 64 * 1024

    static func encode(_ value: some Encodable) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(value))
    }

    static func value<Value: Decodable>(_ type: Value.Type, in text: String) -> Value? {
        try? JSONDecoder().decode(type, from: FoundationEssentials.Data(text.utf8))
    }

    static func line(_ value: some Encodable) throws -> ByteBuffer {
        var buffer = try encode(value)
        buffer.writeInteger(UInt8(ascii: "\n"))
        return buffer
    }

    static func response(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: try encode(value)))
    }

    /// Decodes a JSON body. Accepts an empty one if every field is optional.
    static func decode<Value: Decodable>(_ type: Value.Type, from request: Request) async throws -> Value {
        var buffer = try await request.body.collect(upTo: bodyBytesMax)
        if buffer.readableBytes == 0 { buffer = ByteBuffer(string: "{}") }
        return try JSONDecoder().decode(type, from: FoundationEssentials.Data(buffer.readableBytesView))
    }
}

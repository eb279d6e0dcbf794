import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// Sends prepared requests, and leaves the answers unread but for their status: little work beside the server's.
///
/// Over TLS, as in production; the certificate is not looked at, because each call's own client does that once a
/// connection.
final class LoadClient: Sendable {
    private let http: HTTPClient
    let url: String
    private let bytes = Atomic<Int>(0)

    /// Bytes of HTTP both ways so far, without what TLS and TCP add.
    var traffic: Int { bytes.load(ordering: .relaxed) }

    /// - Parameter connections: as many as there are calls at a time, so that none waits for one.
    init(_ url: String, connections: Int) {
        self.url = url
        var configuration = HTTPClient.Configuration(certificateVerification: .none)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        // Whoever waits for a server to start asks again.
        configuration.connectionPool.retryConnectionEstablishment = false
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func shutdown() async throws { try await http.shutdown() }

    /// - Parameters:
    ///   - token: a bearer token.
    ///   - isLast: the server closes the connection after it, so that the next call says hello anew.
    /// - Returns: the answer's body.
    @discardableResult func post(
        _ path: String, _ body: ByteBuffer, token: String? = nil, isLast: Bool = false
    ) async throws -> ByteBuffer {
        let (status, answer) = try await exchange(path, body, token: token, isLast: isLast)
        guard status == .ok else {
            throw BenchmarkError("\(path): \(status): \(String(buffer: answer).prefix(300))")
        }
        return answer
    }

    /// - Returns: the answer's body; nil where the answer is that somebody else has it.
    func postUnlessConflict(_ path: String, _ body: ByteBuffer, token: String) async throws -> ByteBuffer? {
        let (status, answer) = try await exchange(path, body, token: token, isLast: false)
        guard status != .conflict else { return nil }
        guard status == .ok else {
            throw BenchmarkError("\(path): \(status): \(String(buffer: answer).prefix(300))")
        }
        return answer
    }

    private func exchange(
        _ path: String, _ body: ByteBuffer, token: String?, isLast: Bool
    ) async throws -> (HTTPResponseStatus, ByteBuffer) {
        var request = HTTPClientRequest(url: url + path)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        if isLast { request.headers.add(name: "connection", value: "close") }
        request.body = .bytes(body)
        let response = try await http.execute(request, timeout: .seconds(30))
        let answer = try await response.body.collect(upTo: 16 << 20)
        let count = request.headers.byteCount + response.headers.byteCount + body.readableBytes + answer.readableBytes
        // Both first lines, and the two headers that the client adds.
        bytes.wrappingAdd(count + path.utf8.count + 70, ordering: .relaxed)
        return (response.status, answer)
    }

    /// - Returns: the answer's body.
    func get(_ path: String) async throws -> ByteBuffer {
        try await stream(.GET, path).collect(upTo: 16 << 20)
    }

    /// An answer without an end. Its pieces come as they come.
    func stream(_ method: HTTPMethod, _ path: String, _ body: ByteBuffer? = nil, token: String? = nil) async throws
        -> HTTPClientResponse.Body
    {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        request.body = body.map { .bytes($0) }
        let response = try await http.execute(request, deadline: .distantFuture)
        guard response.status == .ok else { throw BenchmarkError("\(path): \(response.status)") }
        return response.body
    }
}

extension ByteBuffer {
    init(json value: some Encodable) throws { self.init(bytes: try JSONEncoder().encode(value)) }
}

extension HTTPHeaders {
    /// As they are sent in HTTP/1.1.
    fileprivate var byteCount: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 } }
}

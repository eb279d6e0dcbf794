import AsyncHTTPClient
import Domain
import LinuxIO
import NIOCore
import NIOHTTP1
import NIOPosix

/// A POST request to an external server.
///
/// Each request has its own client, because requests are rare. Redirects are not followed, so that only the configured
/// address gets the access token.
struct OutgoingRequest: Sendable {
    enum Outcome: Hashable, Sendable {
        /// `retryAfter` is the header `Retry-After`, `body` the beginning of the response body.
        case answered(status: UInt, retryAfter: Duration?, body: String)
        /// Reason of the failure, without the URL, which may contain a secret.
        case failed(String)
    }

    var url: String
    var headers: [String: String]
    var body: ByteBuffer
    /// Maximum number of bytes read from the response body; 0 skips the body.
    var answerBytesMax = 0

    func send(within limit: Duration) async -> Outcome {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .nanoseconds(limit.nanoseconds)
        configuration.connectionPool.retryConnectionEstablishment = false
        var message = HTTPClientRequest(url: url)
        message.method = .POST
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { message.headers.add(name: name, value: value) }
        message.headers.add(name: "user-agent", value: "meterd")
        message.body = .bytes(body)
        do {
            let deadline = NIODeadline.now() + .nanoseconds(limit.nanoseconds)
            return try await HTTPClient.withHTTPClient(configuration: configuration) { [message, answerBytesMax] http in
                let response = try await http.execute(message, deadline: deadline)
                let delay = response.headers.first(name: "retry-after").flatMap { Int64($0) }
                let text = await Self.beginning(of: response, answerBytesMax)
                return .answered(
                    status: response.status.code, retryAfter: delay.flatMap { $0 >= 0 ? .seconds($0) : nil }, body: text
                )
            }
        } catch {
            return .failed(Self.reason(of: error, limit))
        }
    }

    /// Returns the beginning of the body, up to the first read error, because only the status is essential.
    private static func beginning(of response: HTTPClientResponse, _ bytesMax: Int) async -> String {
        guard bytesMax > 0 else { return "" }
        var all = ByteBuffer()
        do {
            for try await var piece in response.body {
                all.writeBuffer(&piece)
                if all.readableBytes >= bytesMax { break }
            }
        } catch {}
        return String(decoding: all.readableBytesView.prefix(bytesMax), as: UTF8.self)
    }

    private static func reason(of error: any Error, _ limit: Duration) -> String {
        switch error {
        case let error as HTTPClientError where [.deadlineExceeded, .connectTimeout, .readTimeout].contains(error):
            "no answer within \(limit.shortText)"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closed the connection"
        case let error as HTTPClientError: error.shortDescription
        case is CancellationError: "meterd is stopping"
        case let error as IOError: "no connection: \(Errno(error.errnoCode).words)"
        case let error as NIOConnectionError:
            "no connection\(error.dnsAError != nil || error.dnsAAAAError != nil ? ": its host is not found" : "")"
        default: "no connection: \(words(for: error).prefix(200))"
        }
    }
}

import AsyncHTTPClient
package import CloudAPI
package import Domain
import FoundationEssentials
import Gateway
import NIOCore
import NIOHTTP1
import PinnedHTTP
import Synchronization

/// HTTP client of metercloud.
///
/// Every error is a `SyncFailure`. The addresses are replicas of one cloud: if one cannot be reached, the next call
/// tries the next address.
package final class CloudClient: Sendable {
    package let membership: CloudMembership
    private let addresses: [CloudAddress]
    private let current = Mutex(0)
    let http: HTTPClient
    let patience: TimeAmount
    package static let usualPatience = Duration.seconds(15)

    /// Opens no connection.
    ///
    /// - Throws: `badRequest` for an invalid address or token.
    package init(_ membership: CloudMembership, patience: Duration = usualPatience) throws(SyncFailure) {
        var addresses: [CloudAddress] = []
        for url in membership.urls { addresses.append(try CloudAddress(url)) }
        guard !addresses.isEmpty else { throw SyncFailure(.badRequest, "no address of the cloud is given") }
        if let open = addresses.first(where: { !$0.isEncrypted }), membership.pin != nil {
            throw SyncFailure(.badRequest, "\(open.text) has no certificate that a pin could fit: use https")
        }
        guard membership.token.isSendable else {
            throw SyncFailure(.badRequest, "that is not a token: it is empty, or has blanks or line ends in it")
        }
        self.membership = membership
        self.addresses = addresses
        self.patience = .nanoseconds(patience.nanoseconds)
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .cloud(pin: membership.pin))
    }

    /// Shuts down the HTTP client if `shutdown` was not called, for example because meterd stopped early.
    deinit { _ = http.shutdown() }

    package func shutdown() async {
        try? await http.shutdown()
    }

    /// Presents an enrolment token or the host's own token. Returns the membership to store.
    package static func join(
        urls: [String], token: Secret, pin: CertificatePin?, as request: JoinRequest, patience: Duration = usualPatience
    ) async throws(SyncFailure) -> CloudMembership {
        var membership = CloudMembership(urls: urls, zone: "", token: token, pin: pin)
        let client = try CloudClient(membership, patience: patience)
        let result: Result<JoinAnswer, SyncFailure>
        do throws(SyncFailure) {
            result = .success(try await client.call(.POST, "/v1/hosts", body: request))
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        let answer = try result.get()
        membership.zone = answer.zone
        membership.token = answer.token.map { Secret($0) } ?? token
        return membership
    }

    // MARK: One request, one answer

    func call<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, body: (some Encodable)? = Optional<String>.none
    ) async throws(SyncFailure) -> Answer {
        do throws(CallFailure) {
            return try await attempt(method, path, body: body)
        } catch {
            throw error.failure
        }
    }

    /// Like `call`, but throws the cloud's refusal as `CallFailure.refused`, with its code and details.
    func attempt<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, body: (some Encodable)? = Optional<String>.none,
        patience: TimeAmount? = nil
    ) async throws(CallFailure) -> Answer {
        let deadline = NIODeadline.now() + (patience ?? self.patience)
        let response = try await send(method, path, body: body, deadline: deadline)
        let bytes: ByteBufferView
        do throws(SyncFailure) {
            bytes = try await collect(response, until: deadline)
        } catch {
            throw .failed(error)
        }
        if let body = Answer.self as? any ReadBody.Type, let answer = body.init(text: bytes) as? Answer {
            return answer
        }
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(bytes))
        } catch {
            throw .failed(SyncFailure(.other, "\(path): the cloud's answer cannot be read: \(words(for: error))"))
        }
    }

    func zonePath(_ rest: String) -> String { "/v1/zones/\(membership.zone.urlPart)/\(rest)" }

    /// - Parameter index: nil for the present address.
    func send(
        _ method: HTTPMethod, _ path: String, body: (some Encodable)?, deadline: NIODeadline,
        headers: [(String, String)] = [], to index: Int? = nil
    ) async throws(CallFailure) -> HTTPClientResponse {
        let index = index ?? addressIndex
        let address = addresses[index]
        var request = HTTPClientRequest(url: address.text + path)
        request.method = method
        request.headers.add(name: "authorization", value: "Bearer \(membership.token.text)")
        request.headers.add(contentsOf: headers)
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(try Self.bytes(of: body, for: path))
        }
        let response: HTTPClientResponse
        do {
            response = try await http.execute(request, deadline: deadline)
        } catch {
            throw .failed(unreachable(address, at: index, error))
        }
        guard response.status.code >= 400 else { return response }
        if response.status == .serviceUnavailable { giveUp(index) }
        throw await failure(of: response, to: path)
    }

    private static func bytes(of body: some Encodable, for path: String) throws(CallFailure) -> ByteBuffer {
        if let text = (body as? any WrittenBody)?.text { return ByteBuffer(bytes: text) }
        do {
            return ByteBuffer(bytes: try JSONEncoder().encode(body))
        } catch {
            throw .failed(
                SyncFailure(.badRequest, "\(path): the request cannot be written as JSON: \(words(for: error))"))
        }
    }

    private func unreachable(_ address: CloudAddress, at index: Int, _ error: any Error) -> SyncFailure {
        switch error {
        case let wrong as WrongCertificate: return SyncFailure(wrong, at: address.text)
        // The caller cancelled the call, so the address did not fail.
        case is CancellationError: return SyncFailure(.network, "the call to \(address.text) was cancelled")
        default:
            giveUp(index)
            return SyncFailure(.network, "\(address.text) cannot be reached: \(SyncFailure.words(for: error))")
        }
    }

    var addressIndex: Int { current.withLock { $0 } }

    /// Switches to the next address, unless another call has already switched.
    func giveUp(_ index: Int) {
        current.withLock { if $0 == index { $0 = (index + 1) % addresses.count } }
    }

    /// Reads the body until the deadline, which the library enforces only for the answer's head: a slow server could
    /// send the body for ever.
    private func collect(
        _ response: HTTPClientResponse, until deadline: NIODeadline
    ) async throws(SyncFailure) -> ByteBufferView {
        var bytes = ByteBuffer()
        if let length = response.headers.first(name: "content-length").flatMap({ Int($0) }) {
            bytes.reserveCapacity(min(max(length, 0), Self.pageBytesUsual))
        }
        do {
            for try await piece in response.body {
                bytes.writeImmutableBuffer(piece)
                guard bytes.readableBytes <= Self.answerBytesMax else {
                    throw SyncFailure(.other, "the answer is longer than \(Self.answerBytesMax) bytes")
                }
                guard NIODeadline.now() < deadline else {
                    throw SyncFailure(.network, "the answer was not complete in time")
                }
            }
        } catch let failure as SyncFailure {
            throw failure
        } catch {
            throw SyncFailure(.network, "the answer broke off: \(SyncFailure.words(for: error))")
        }
        return bytes.readableBytesView
    }

    private static let pageBytesUsual = 1 << 20
    /// Maximum size of an answer in bytes, far above the largest page: 400 records of a few dozen kilobytes.
    private static let answerBytesMax = 64 << 20

    private func failure(of response: HTTPClientResponse, to path: String) async -> CallFailure {
        let bytes: ByteBufferView
        do throws(SyncFailure) {
            bytes = try await collect(response, until: .now() + patience)
        } catch {
            // Without its complete body, the response does not count as a refusal: a broken connection must neither
            // halt the sync nor quarantine a record.
            return .failed(error)
        }
        guard let body = try? JSONDecoder().decode(CloudErrorBody.self, from: Data(bytes)) else {
            return .failed(SyncFailure(status: response.status, path: path))
        }
        return .refused(body.error)
    }
}

enum CallFailure: Error {
    case refused(CloudErrorBody.Content)
    case failed(SyncFailure)

    var failure: SyncFailure {
        switch self {
        case .refused(let content): SyncFailure(content)
        case .failed(let failure): failure
        }
    }
}

extension String {
    /// Percent-encoded path component, including dots, because `..` would lead to another path.
    var urlPart: String { percentEncoded.replacing(".", with: "%2E") }
}

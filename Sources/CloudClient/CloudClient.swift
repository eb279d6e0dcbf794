import AsyncHTTPClient
package import CloudAPI
import FoundationEssentials
import Gateway
import MeterModel
import NIOCore
import NIOHTTP1
package import SyncCore
import Synchronization

/// Speaks with metercloud over HTTP: the cloud's side of `CloudLink` and `LeaseAuthority`.
///
/// Holds no state but its connections. Every error is a `SyncFailure`. With several addresses, which are copies of one
/// cloud, a call that cannot reach one makes the next call try the next.
package final class CloudClient: Sendable {
    package let membership: CloudMembership
    private let addresses: [CloudAddress]
    private let current = Mutex(0)
    let http: HTTPClient
    /// How long an answer may take.
    let patience: TimeAmount

    /// - Throws: `badRequest` for an address or a token that cannot be one. Opens no connection.
    package init(_ membership: CloudMembership, patience: Duration = .seconds(15)) throws(SyncFailure) {
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

    /// Closes every connection. Calls after it fail.
    package func shutdown() async {
        // It fails when called twice, and then it is done already.
        try? await http.shutdown()
    }

    /// Joins a cloud: shows an enrolment token, or a host's own, and returns the membership to keep.
    package static func join(
        urls: [String], token: Secret, pin: CertificatePin?, as request: JoinRequest
    ) async throws(SyncFailure) -> CloudMembership {
        var membership = CloudMembership(urls: urls, zone: "", token: token, pin: pin)
        let client = try CloudClient(membership)
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

    /// As `call`, with the cloud's own words where it refused.
    func attempt<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, body: (some Encodable)? = Optional<String>.none
    ) async throws(CallFailure) -> Answer {
        let deadline = NIODeadline.now() + patience
        let response = try await send(method, path, body: body, deadline: deadline)
        let bytes: Data
        do throws(SyncFailure) {
            bytes = try await collect(response, until: deadline)
        } catch {
            throw .failed(error)
        }
        if let body = Answer.self as? any RecordsBody.Type, let answer = body.init(text: bytes) as? Answer {
            return answer
        }
        do {
            return try JSONDecoder().decode(Answer.self, from: bytes)
        } catch {
            throw .failed(SyncFailure(.other, "\(path): the cloud's answer cannot be read: \(words(for: error))"))
        }
    }

    /// The path of something in the zone.
    func zonePath(_ rest: String) -> String { "/v1/zones/\(membership.zone.urlPart)/\(rest)" }

    /// - Parameter index: of the address; nil means the one that is asked just now.
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
        if let text = (body as? any RecordsBody)?.text { return ByteBuffer(bytes: text) }
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
        // Whoever gave up did so for reasons of their own: the address may be a good one.
        case is CancellationError: return SyncFailure(.network, "the call to \(address.text) was cancelled")
        default:
            giveUp(index)
            return SyncFailure(.network, "\(address.text) cannot be reached: \(SyncFailure.words(for: error))")
        }
    }

    /// Of the address that the next call goes to.
    var addressIndex: Int { current.withLock { $0 } }

    /// Lets the next call try the next address, unless another call did so already.
    func giveUp(_ index: Int) {
        current.withLock { if $0 == index { $0 = (index + 1) % addresses.count } }
    }

    /// The whole body. The library watches the deadline until the head of the answer only, so that a server that drips
    /// would never be done.
    private func collect(
        _ response: HTTPClientResponse, until deadline: NIODeadline
    ) async throws(SyncFailure) -> Data {
        var bytes = Data()
        do {
            for try await piece in response.body {
                bytes.append(contentsOf: piece.readableBytesView)
                guard bytes.count <= Self.answerBytesMax else {
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
        return bytes
    }

    /// Far above the largest page: 400 records of at most a few dozen kilobytes each.
    private static let answerBytesMax = 64 << 20

    private func failure(of response: HTTPClientResponse, to path: String) async -> CallFailure {
        let bytes: Data
        do throws(SyncFailure) {
            bytes = try await collect(response, until: .now() + patience)
        } catch {
            // Why it was refused did not arrive: to take the status alone for the cloud's word would halt a session, or
            // set a record aside, because of a broken line.
            return .failed(error)
        }
        // An answer that is no error body has a status all the same, and that is what is told then.
        guard let body = try? JSONDecoder().decode(CloudErrorBody.self, from: bytes) else {
            return .failed(SyncFailure(status: response.status, path: path))
        }
        return .refused(body.error)
    }
}

/// Why a call brought no answer.
enum CallFailure: Error {
    /// In the cloud's words.
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
    /// As one part of a path. Dots are encoded too: a part of dots alone means another path.
    var urlPart: String { percentEncoded.replacing(".", with: "%2E") }
}

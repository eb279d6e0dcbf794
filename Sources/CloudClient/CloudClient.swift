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

    /// - Throws: `badRequest` for an address that is none. Opens no connection.
    package init(_ membership: CloudMembership, patience: Duration = .seconds(15)) throws(SyncFailure) {
        var addresses: [CloudAddress] = []
        for url in membership.urls { addresses.append(try CloudAddress(url)) }
        guard !addresses.isEmpty else { throw SyncFailure(.badRequest, "no address of the cloud is given") }
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
        let response = try await send(method, path, body: body, deadline: .now() + patience)
        do {
            return try JSONDecoder().decode(Answer.self, from: try await collect(response))
        } catch let failure as CallFailure {
            throw failure
        } catch {
            throw .failed(SyncFailure(.other, "\(path): the cloud's answer cannot be read: \(error)"))
        }
    }

    /// The path of something in the zone.
    func zonePath(_ rest: String) -> String { "/v1/zones/\(membership.zone.urlPart)/\(rest)" }

    func send(
        _ method: HTTPMethod, _ path: String, body: (some Encodable)?, deadline: NIODeadline,
        headers: [(String, String)] = []
    ) async throws(CallFailure) -> HTTPClientResponse {
        let index = current.withLock { $0 }
        let address = addresses[index]
        var request = HTTPClientRequest(url: address.text + path)
        request.method = method
        request.headers.add(name: "authorization", value: "Bearer \(membership.token.text)")
        request.headers.add(contentsOf: headers)
        let response: HTTPClientResponse
        do {
            if let body {
                request.headers.add(name: "content-type", value: "application/json")
                request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
            }
            response = try await http.execute(request, deadline: deadline)
        } catch let wrong as WrongCertificate {
            throw .failed(SyncFailure(wrong, at: address.text))
        } catch {
            giveUp(index)
            throw .failed(SyncFailure(.network, "\(address.text) cannot be reached: \(SyncFailure.words(for: error))"))
        }
        guard response.status.code >= 400 else { return response }
        if response.status == .serviceUnavailable { giveUp(index) }
        throw await failure(of: response, to: path)
    }

    /// Lets the next call try the next address, unless another call did so already.
    private func giveUp(_ index: Int) {
        current.withLock { if $0 == index { $0 = (index + 1) % addresses.count } }
    }

    private func collect(_ response: HTTPClientResponse) async throws(CallFailure) -> Data {
        do {
            return Data((try await response.body.collect(upTo: Self.answerBytesMax)).readableBytesView)
        } catch {
            throw .failed(SyncFailure(.network, "the answer broke off: \(SyncFailure.words(for: error))"))
        }
    }

    /// Far above the largest page: 400 records of at most a few dozen kilobytes each.
    private static let answerBytesMax = 64 << 20

    private func failure(of response: HTTPClientResponse, to path: String) async -> CallFailure {
        // An answer that is no error body has a status all the same, and that is what is told then.
        guard let bytes = try? await collect(response),
            let body = try? JSONDecoder().decode(CloudErrorBody.self, from: bytes)
        else { return .failed(SyncFailure(status: response.status, path: path)) }
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
    /// Everything but letters, digits and `-_~` as `%XX`, so that the text is one part of a path. A dot too: a part of
    /// dots alone means another path.
    var urlPart: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(UnicodeScalar(byte))
            default: text += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return text
    }
}

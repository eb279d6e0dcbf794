import AsyncHTTPClient
import Cloud
import CloudAPI
import CloudServer
import FoundationEssentials
import NIOCore
import NIOHTTP1
import PinnedHTTP

/// HTTP client for the other replicas, which all have the same TLS key and so one certificate pin.
final class ReplicaClient: ReplicaLink {
    /// Timeout of an answer. The other replica may wait for the store to decide a host's claim of a command, or for
    /// hosts' logs, whose timeout (`logMilliseconds`) it checks once a second.
    private static let patience = TimeAmount.milliseconds(CloudLimits.logMilliseconds) + .seconds(2)
    private static let answerBytesMax = CloudLimits.copyBodyBytes

    private let http: HTTPClient

    /// - Parameter pin: nil without TLS, between replicas on one machine.
    init(pin: CertificatePin?) {
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .cloud(pin: pin))
    }

    deinit {
        try? http.syncShutdown()
    }

    func tell(_ news: ReplicaNewsBody, at address: String, key: String) async throws -> ReplicaNewsAnswer {
        let answer = try await post(news, to: address + CloudRoute.copyNews.path, key: key)
        return try JSONDecoder().decode(ReplicaNewsAnswer.self, from: answer)
    }

    func ask(_ question: ReplicaQuestionBody, at address: String, key: String) async throws(CloudFailure)
        -> ReplicaAnswerBody
    {
        do {
            let answer = try await post(question, to: address + CloudRoute.copyQuestion.path, key: key)
            return try JSONDecoder().decode(ReplicaAnswerBody.self, from: answer)
        } catch let refusal as CloudFailure {
            throw refusal
        } catch {
            throw CloudFailure(
                .rateLimited, "the copy of the cloud at \(address) cannot be reached: \(error)", retryAfter: .seconds(1)
            )
        }
    }

    private func post(_ body: some Encodable, to url: String, key: String) async throws -> Data {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "authorization", value: "\(CloudRoutes.copyScheme) \(key)")
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        let response = try await http.execute(request, timeout: Self.patience)
        let bytes = Data(try await response.body.collect(upTo: Self.answerBytesMax).readableBytesView)
        guard response.status.code < 400 else {
            throw CloudFailure(try JSONDecoder().decode(CloudErrorBody.self, from: bytes).error)
        }
        return bytes
    }
}

extension CloudFailure {
    fileprivate init(_ content: CloudErrorBody.Content) {
        self.init(
            content.code, content.message,
            retryAfter: content.retryAfter.map { .milliseconds(Int64((max(0, min($0, 3600)) * 1000).rounded())) })
        epoch = content.epoch
        zoneID = content.zoneID
        lease = content.lease
        reason = content.reason
    }
}

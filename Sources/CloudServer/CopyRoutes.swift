import Cloud
import CloudAPI
import Hummingbird
import ServerKit

/// Routes for messages from other replicas, which present the shared secret from the common store
/// (Docs/Relay.md#several-copies).
extension CloudRoutes {
    package static let copyScheme = "Copy"

    func respondCopy(_ call: Call) async throws -> Response {
        guard let shown = Self.copyKey(in: call.request), service.isCopy(shown) else {
            try gate.admit(address: call.context.address)
            throw CloudFailure(
                .notAuthenticated, "\(call.request.uri.path) is for the copies of this cloud, which know its secret")
        }
        call.context.tell(.known)
        guard call.route == .copyNews else {
            let question = try await JSON.decode(
                ReplicaQuestionBody.self, from: call.request, upTo: CloudLimits.copyBodyBytes)
            return try JSON.response(try await service.answer(question))
        }
        let news = try await JSON.decode(ReplicaNewsBody.self, from: call.request, upTo: CloudLimits.copyBodyBytes)
        return try JSON.response(try await service.hear(news))
    }

    private static func copyKey(in request: Request) -> String? {
        let parts = request.headers[.authorization]?.split(separator: " ") ?? []
        return parts.count == 2 && parts[0] == copyScheme ? String(parts[1]) : nil
    }
}

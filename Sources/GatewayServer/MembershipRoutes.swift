package import Gateway
import GatewayAPI
package import Hummingbird

/// Membership of a cloud: `/v1/cloud`.
package struct MembershipRoutes: RouteGroup {
    private let joining: any CloudJoining
    private let isReadOnly: Bool

    /// - Parameter isReadOnly: whether to offer only GET, because the access token for joining may only be sent over
    ///   the control socket.
    package init(joining: any CloudJoining, isReadOnly: Bool = false) {
        self.joining = joining
        self.isReadOnly = isReadOnly
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("cloud") { _, _ in try JSON.response(await joining.status()) }
        guard !isReadOnly else { return }
        api.post("cloud/join") { request, _ in
            let body = try await JSON.decode(CloudJoinRequest.self, from: request)
            guard !body.urls.isEmpty else {
                throw GatewayError(
                    .badRequest, "no URL of a cloud is given", next: "one is https://host:8643")
            }
            return try JSON.response(try await joining.join(body))
        }
        api.post("cloud/hosts/:host/retire") { _, context in
            try JSON.response(try await joining.retire(try MeterRoutes.reference("host", in: context)))
        }
        api.delete("cloud") { _, _ in try JSON.response(try await joining.leave()) }
    }
}

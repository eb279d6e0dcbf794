import Domain
package import Gateway
import GatewayAPI
package import Hummingbird

/// Records excluded from sync: `/v1/sync/parked`.
package struct ParkedRoutes: RouteGroup {
    private let parked: ParkedService

    package init(parked: ParkedService) { self.parked = parked }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("sync/parked") { _, _ in
            try JSON.response(ParkedBody(entries: try await parked.entries()))
        }
        api.post("sync/parked/:id/restore") { _, context in
            let id = try context.parameters.require("id").percentDecoded ?? ""
            return try JSON.response(ParkedAnswer(id: id, properties: try await parked.restore(id)))
        }
        api.delete("sync/parked/:id") { _, context in
            let id = try context.parameters.require("id").percentDecoded ?? ""
            try await parked.drop(id)
            return try JSON.response(ParkedAnswer(id: id))
        }
    }
}

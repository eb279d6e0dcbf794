package import Cloud
import ServiceLifecycle

/// Offers meters to waiting hosts, and deletes outdated data.
package struct CloudMaintenance: Service {
    private let service: CloudService

    package init(service: CloudService) { self.service = service }

    package func run() async throws {
        await cancelWhenGracefulShutdown { await service.run() }
    }
}

/// Ends the event streams, because open streams would keep the server running. Services stop in reverse order, so this
/// one starts after the server.
package struct CloudStreamEnder: Service {
    private let service: CloudService

    package init(service: CloudService) { self.service = service }

    package func run() async throws {
        try? await gracefulShutdown()
        await service.shutdown()
    }
}

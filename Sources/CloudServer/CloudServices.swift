package import Cloud
import ServiceLifecycle

/// Background work of the cloud: offers meters to waiting hosts, and deletes outdated data.
package struct CloudMaintenance: Service {
    private let service: CloudService

    package init(service: CloudService) { self.service = service }

    package func run() async throws {
        await cancelWhenGracefulShutdown { await service.run() }
    }
}

/// Ends the event streams at shutdown, because open streams would keep the server running. Services stop in reverse
/// order, so this service starts after the server and stops before it.
package struct CloudStreamEnder: Service {
    private let service: CloudService

    package init(service: CloudService) { self.service = service }

    package func run() async throws {
        // A cancellation without a graceful shutdown also ends this wait.
        try? await gracefulShutdown()
        await service.shutdown()
    }
}

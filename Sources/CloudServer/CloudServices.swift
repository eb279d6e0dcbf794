package import Cloud
import ServiceLifecycle

/// Background work of the cloud: offers to waiting hosts, and the clean-up.
package struct CloudMaintenance: Service {
    private let service: CloudService

    package init(service: CloudService) { self.service = service }

    package func run() async throws {
        await cancelWhenGracefulShutdown { await service.run() }
    }
}

/// Ends the event streams at shutdown, which would otherwise keep the server open for ever. Starts after the server, so
/// that it stops before it.
package struct CloudStreamEnder: Service {
    private let service: CloudService

    package init(service: CloudService) { self.service = service }

    package func run() async throws {
        // If cancelled without a graceful shutdown, it need not wait either.
        try? await gracefulShutdown()
        await service.shutdown()
    }
}

import FoundationEssentials
import Glibc
package import Hummingbird
package import Logging
import NIOCore
import ServerKit

/// Serves the API on a Unix socket (Docs/CommandLine.md#socket: 0660, group `meterd`).
package struct ControlServer: Sendable {
    private let responder: RouterResponder<BasicRequestContext>
    private let socketPath: String
    private let logger: Logger

    package init(router: Router<BasicRequestContext>, socketPath: String, logger: Logger) {
        responder = router.buildResponder()
        self.socketPath = socketPath
        self.logger = logger
    }

    /// Returns a service, which runs until graceful shutdown and then removes its socket.
    ///
    /// - Parameter onRunning: called once clients can connect.
    package func application(onRunning: @escaping @Sendable () -> Void) -> some ApplicationProtocol {
        QuietApplication(
            responder: responder,
            configuration: ApplicationConfiguration(address: .unixDomainSocket(path: socketPath), serverName: "meterd"),
            onServerRunning: { [socketPath, logger] _ in
                restrict(socketPath, logger: logger)
                onRunning()
            },
            logger: LibraryLogFilter.quiet(logger)
        )
    }
}

/// Sets mode 0660, and group `meterd` if it exists and meterd may set it.
private func restrict(_ path: String, logger: Logger) {
    if chmod(path, 0o660) != 0 {
        logger.warning("control socket permissions not set", metadata: ["path": "\(path)", "errno": "\(errno)"])
    }
    guard geteuid() == 0, let group = getgrnam("meterd") else { return }
    if chown(path, 0, group.pointee.gr_gid) != 0 {
        logger.warning("control socket group not set", metadata: ["path": "\(path)", "errno": "\(errno)"])
    }
}

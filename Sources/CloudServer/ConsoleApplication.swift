import CloudAPI
import Glibc
package import Hummingbird
package import Logging
import ServerKit

/// Server of the console on a Unix socket for its owner only (mode 0600, in a folder of mode 0700).
package struct ConsoleApplication: Sendable {
    private let console: Console
    private let socketPath: String
    private let logger: Logger

    package static let path = "/v1/console"

    package init(console: Console, socketPath: String, logger: Logger) {
        self.console = console
        self.socketPath = socketPath
        self.logger = logger
    }

    /// Runs until graceful shutdown, then removes its socket.
    ///
    /// - Parameter onRunning: called once the console accepts requests.
    package func service(onRunning: @escaping @Sendable () -> Void = {}) -> some ApplicationProtocol {
        let router = Router(context: CloudRequestContext.self)
        router.add(middleware: CloudErrorMiddleware())
        router.post(RouterPath(Self.path)) { request, _ in
            try JSON.response(try await console.answer(try await JSON.decode(ConsoleRequest.self, from: request)))
        }
        return QuietApplication(
            responder: router.buildResponder(),
            configuration: ApplicationConfiguration(
                address: .unixDomainSocket(path: socketPath), serverName: "metercloud"),
            onServerRunning: { [socketPath, logger] _ in
                if chmod(socketPath, 0o600) != 0 {
                    logger.warning(
                        "console socket permissions not set", metadata: ["path": "\(socketPath)", "errno": "\(errno)"])
                }
                onRunning()
            },
            logger: LibraryLogFilter.quiet(logger))
    }
}

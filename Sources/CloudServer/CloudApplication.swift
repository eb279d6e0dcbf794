package import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
package import NIOSSL
package import ServerKit

/// HTTP server of the cloud's routes. TLS is optional if only this machine can reach it.
package struct CloudApplication: Sendable {
    package let routes: CloudRoutes
    package let host: String
    /// 0 for any free port.
    package let port: Int
    /// Nil for no TLS.
    package let tls: TLSConfiguration?
    package let logger: Logger
    /// Timeout of a client that does not read its data.
    package var stallPatience = TimeAmount.seconds(30)
    /// Timeout of a client without a valid token: for TLS setup, its first request's head, and its next request.
    package var strangerPatience = TimeAmount.seconds(10)
    private let connections: ConnectionLimit
    /// Maximum idle time between two requests, longer than a host's heartbeat interval, to save handshakes.
    package var idlePatience = TimeAmount.seconds(330)

    package init(
        routes: CloudRoutes, host: String, port: Int, tls: TLSConfiguration?,
        connections: ConnectionLimit = ConnectionLimit(all: 1024, perAddress: 512), logger: Logger
    ) {
        self.connections = connections
        self.routes = routes
        self.host = host
        self.port = port
        self.tls = tls
        self.logger = logger
    }

    /// Runs until graceful shutdown, then waits for open streams, which `CloudService.shutdown` ends.
    ///
    /// - Parameter onRunning: called with the port once clients can connect.
    package func service(
        onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) throws -> some ApplicationProtocol {
        var configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                StalledWriteHandler(patience: stallPatience), ConnectionDeadlineHandler(patience: strangerPatience),
            ],
            idleTimeout: idlePatience)
        configuration.httpDecoder.maxHeaderListSize = 64 * 1024
        configuration.httpDecoder.maxHeaderFieldSize = 32 * 1024
        configuration.httpDecoder.maxHeaderFieldCount = 100
        let tls = tls.map { TLSChannelConfiguration(tlsConfiguration: $0) }
        return QuietApplication(
            responder: routes.router().buildResponder(),
            server: HTTPServerBuilder { [connections, configuration] responder in
                let plain = HTTP1Channel(responder: responder, configuration: configuration)
                guard let tls else { return LimitedChannel(plain, limit: connections) }
                return LimitedChannel(try TLSChannel(plain, configuration: tls), limit: connections)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: "metercloud", backlog: 4096),
            onServerRunning: { await onRunning($0.localAddress?.port ?? 0) },
            logger: LibraryLogFilter.quiet(logger))
    }
}

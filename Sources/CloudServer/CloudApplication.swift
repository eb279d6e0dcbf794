package import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
package import NIOSSL
import ServerKit

/// The cloud's routes on a port, with TLS or, where nothing but this machine reaches it, without.
package struct CloudApplication: Sendable {
    package let routes: CloudRoutes
    /// Where to listen: an address of this machine, or a name for one.
    package let host: String
    /// 0 takes one that is free.
    package let port: Int
    /// nil: no TLS.
    package let tls: TLSConfiguration?
    package let logger: Logger
    /// How long a client may take nothing of what is sent to it.
    package var stallPatience = TimeAmount.seconds(30)
    /// How long a connection between two requests is kept. Longer than a host's heartbeat, which need not say hello anew.
    package var idlePatience = TimeAmount.seconds(330)

    package init(routes: CloudRoutes, host: String, port: Int, tls: TLSConfiguration?, logger: Logger) {
        self.routes = routes
        self.host = host
        self.port = port
        self.tls = tls
        self.logger = logger
    }

    /// The server as a service: runs until graceful shutdown. Streams must be told to end (`CloudService.shutdown`),
    /// else it waits for them.
    ///
    /// - Parameter onRunning: called with the port once clients can connect.
    package func service(
        onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) throws -> some ApplicationProtocol {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        var configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [StalledWriteHandler(patience: stallPatience)], idleTimeout: idlePatience)
        configuration.httpDecoder.maxHeaderListSize = 64 * 1024
        configuration.httpDecoder.maxHeaderFieldSize = 32 * 1024
        configuration.httpDecoder.maxHeaderFieldCount = 100
        let plain = HTTPServerBuilder.http1(configuration: configuration)
        return Application(
            responder: routes.router().buildResponder(),
            server: try tls.map { try .tls(plain, tlsConfiguration: $0) } ?? plain,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: "metercloud", backlog: 4096),
            onServerRunning: { await onRunning($0.localAddress?.port ?? 0) },
            logger: quiet)
    }
}

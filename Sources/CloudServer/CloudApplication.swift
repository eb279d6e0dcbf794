package import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
package import NIOSSL
package import ServerKit

/// The cloud's routes on a port, with TLS or, if only this machine can reach it, without.
package struct CloudApplication: Sendable {
    package let routes: CloudRoutes
    /// Where to listen: an address of this machine, or a name for one.
    package let host: String
    /// 0 picks one that is free.
    package let port: Int
    /// Nil for no TLS.
    package let tls: TLSConfiguration?
    package let logger: Logger
    /// How long a client may accept nothing of what is sent to it.
    package var stallPatience = TimeAmount.seconds(30)
    /// How long a client may take to set up TLS, then to send the head of its first request, and, without a valid
    /// token, to send its next request.
    var strangerPatience = TimeAmount.seconds(10)
    private let connections: ConnectionLimit
    /// How long a connection is kept between two requests. Longer than a host's heartbeat, which then needs no new
    /// handshake.
    package var idlePatience = TimeAmount.seconds(330)

    /// - Parameter connections: limits on their number at a time.
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

    /// The server as a service: runs until graceful shutdown. Streams must be told to end (`CloudService.shutdown`);
    /// otherwise it waits for them.
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
            logger: FarewellFilter.quiet(logger))
    }
}

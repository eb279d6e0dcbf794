import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
package import ServerKit
package import ServiceLifecycle

/// The web page's listener: HTTP and, with a certificate, TLS on one port. Limits slow, frequent and long requests.
package struct WebServer: Sendable {
    package struct Limits: Sendable {
        /// Timeout for a client that accepts no data.
        package var stallPatience = TimeAmount.seconds(10)
        /// Timeout for the head of a request, and for an idle connection.
        package var idlePatience = TimeAmount.seconds(30)
        /// Maximum number of connections. A browser opens up to six and keeps one open.
        package var connections = 512
        /// Maximum number of connections for one address or, over loopback, for one user.
        package var connectionsPerAddress = 128

        package init() {}
    }

    private let responder: WebResponder
    private let address: BindAddress
    private let isLoopback: Bool
    private let onlyPeer: String?
    private let limits: Limits
    private let users: LocalUsers
    private let tls: TLSKeeper?
    private let logger: Logger

    /// - Parameters:
    ///   - port: 0 selects a free port.
    ///   - onlyPeer: the only address that may connect; nil for all.
    ///   - users: finds the user of a loopback connection, because the connection limit over loopback is per user.
    ///   - tls: nil for plain HTTP only.
    package init(
        responder: WebResponder, host: String, port: Int, onlyPeer: String? = nil, limits: Limits = Limits(),
        users: LocalUsers, tls: TLSKeeper? = nil, logger: Logger
    ) {
        self.responder = responder
        self.users = users
        self.tls = tls
        address = .hostname(host, port: port)
        isLoopback = IPAddress.isLoopback(host)
        self.onlyPeer = onlyPeer
        self.limits = limits
        self.logger = logger
    }

    /// Returns the service. Cancelling it closes every connection.
    ///
    /// - Parameter onRunning: called with the port once clients can connect.
    package func application(
        onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) -> some Service {
        let quiet = LibraryLogFilter.quiet(logger)
        let limit = ConnectionLimit(
            all: limits.connections,
            perAddress: isLoopback ? limits.connections : limits.connectionsPerAddress)
        let userLimit = LocalUserLimit(most: limits.connectionsPerAddress, users: users)
        let (patience, onlyPeer) = (limits.stallPatience, onlyPeer)
        var configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: (onlyPeer.map { [PeerGate($0)] } ?? []) + [
                limit.handler(), userLimit.handler(), StalledWriteHandler(patience: patience),
            ],
            idleTimeout: limits.idlePatience)
        configuration.httpDecoder.maxHeaderListSize = 32 * 1024
        configuration.httpDecoder.maxHeaderFieldSize = 16 * 1024
        configuration.httpDecoder.maxHeaderFieldCount = 100
        return QuietApplication(
            responder: responder,
            server: HTTPServerBuilder { [tls, configuration] responder in
                let plain = HTTP1Channel(responder: responder, configuration: configuration)
                guard let tls else { return plain }
                return FirstByteChannel(plain, tls: tls)
            },
            configuration: ApplicationConfiguration(address: address, serverName: "meterd"),
            onServerRunning: { await onRunning($0.localAddress?.port ?? 0) },
            logger: quiet)
    }
}

import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
package import ServerKit
package import ServiceLifecycle

/// The web page's listener: HTTP and, where there is a certificate, TLS on one port, with limits on everything that a client may do slowly, often or at length.
package struct WebServer: Sendable {
    /// How slow clients may be, and how many.
    package struct Limits: Sendable {
        /// How long a client may accept nothing of what is sent to it.
        package var stallPatience = TimeAmount.seconds(10)
        /// How long the head of a request may take to arrive, and how long a connection is kept between two requests.
        package var idlePatience = TimeAmount.seconds(30)
        /// Most connections at a time. A browser has up to six, one of them for as long as the page is open.
        package var connections = 512
        /// Most of those from one address or, over loopback, from one user.
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
    ///   - host: an address of this machine, or a name for one.
    ///   - port: 0 picks one that is free.
    ///   - onlyPeer: the only address whose connections are not closed at once; nil for all.
    ///   - users: users to be counted separately if they come over loopback.
    ///   - tls: nil for plain HTTP alone.
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

    /// The server as a service: runs until it is cancelled, which cuts every connection.
    ///
    /// - Parameter onRunning: called with the port once clients can connect.
    package func application(
        onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) -> some Service {
        let quiet = FarewellFilter.quiet(logger)
        // Over loopback everybody comes from the same address.
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

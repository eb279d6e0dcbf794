import NIOCore
import ServerKit

/// The page inside Home Assistant. Its listener serves only the Supervisor, which has logged the person in.
package struct WebIngress: Hashable, Sendable {
    package var host: String
    package var port: Int
    /// Whether people may make changes. Home Assistant does not report which users are administrators.
    package var mayChange: Bool
    /// The only address served: the Supervisor's, from Home Assistant's developer documentation.
    package var peer = "172.30.32.2"

    package init(host: String, port: Int, mayChange: Bool) {
        self.host = host
        self.port = port
        self.mayChange = mayChange
    }
}

/// Closes connections from all addresses except one.
final class PeerGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    private let peer: [UInt8]?

    /// - Parameter peer: numeric address. Any other text admits no connection.
    init(_ peer: String) { self.peer = IPAddress.plainBytes(of: peer) }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive, !admits(context) { context.close(promise: nil) }
    }

    func channelActive(context: ChannelHandlerContext) {
        if admits(context) { context.fireChannelActive() } else { context.close(promise: nil) }
    }

    private func admits(_ context: ChannelHandlerContext) -> Bool {
        guard let peer, let address = context.channel.remoteAddress?.ipAddress else { return false }
        return IPAddress.plainBytes(of: address) == peer
    }
}

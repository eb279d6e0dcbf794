package import Hummingbird
import Logging
import NIOCore
import ServerKit

package struct WebContext: InitializableFromSource {
    let channel: any Channel
    let logger: Logger
    var forwarded = WebForwarded()
    /// Whether the browser uses HTTPS; set by the responder.
    var isHTTPS = false

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
        logger = source.logger
    }

    var localAddress: String? { channel.localAddress?.ipAddress }
    /// Network whose failed logins share a limit: all IPv6 addresses that one machine may have.
    var network: String { IPAddress.network(of: client) }
    /// Nil unless the connection uses IP.
    var connection: WebConnection? { WebConnection(channel) }
    private var client: SocketAddress? { forwarded.client ?? channel.remoteAddress }
    var address: String {
        guard let text = client?.ipAddress, let bytes = IPAddress.plainBytes(of: text) else {
            return network
        }
        return IPAddress.text(of: bytes) ?? network
    }
}

package struct WebConnection: Hashable, Sendable {
    /// Client's numeric address.
    package var client: String
    package var clientPort: Int
    package var server: String
    package var serverPort: Int

    package init(client: String, clientPort: Int, server: String, serverPort: Int) {
        self.client = client
        self.clientPort = clientPort
        self.server = server
        self.serverPort = serverPort
    }

    /// Nil unless the channel uses IP.
    init?(_ channel: any Channel) {
        guard let remote = channel.remoteAddress, let local = channel.localAddress,
            let client = remote.ipAddress, let clientPort = remote.port, let server = local.ipAddress,
            let serverPort = local.port
        else { return nil }
        self.init(client: client, clientPort: clientPort, server: server, serverPort: serverPort)
    }
}

/// Client of a local connection, as reported by the kernel.
package struct WebPeer: Hashable, Sendable {
    package var user: UInt32
    /// Inode number of the client's socket, unique while it is open.
    package var socket: UInt32

    package init(user: UInt32, socket: UInt32) {
        self.user = user
        self.socket = socket
    }
}

package struct LocalUsers: Sendable {
    /// Returns the client while the connection is open in both directions; nil if unknown.
    package var peer: @Sendable (WebConnection) -> WebPeer?
    package var mayChange: @Sendable (_ user: UInt32) -> Bool

    package init(
        peer: @escaping @Sendable (WebConnection) -> WebPeer?,
        mayChange: @escaping @Sendable (_ user: UInt32) -> Bool
    ) {
        self.peer = peer
        self.mayChange = mayChange
    }
}

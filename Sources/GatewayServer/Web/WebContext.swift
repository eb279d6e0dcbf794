package import Hummingbird
import Logging
import NIOCore
import ServerKit

/// What is known about one request of the web page's listener.
package struct WebContext: InitializableFromSource {
    let channel: any Channel
    let logger: Logger

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
        logger = source.logger
    }

    /// The address of this machine that the connection came to.
    var localAddress: String? { channel.localAddress?.ipAddress }
    /// Whose failed logins are counted together.
    var network: String { IPAddress.network(of: channel.remoteAddress) }
    /// Both ends of the connection, where it is one of the internet protocols.
    var connection: WebConnection? {
        guard let remote = channel.remoteAddress, let local = channel.localAddress,
            let client = remote.ipAddress, let clientPort = remote.port, let server = local.ipAddress,
            let serverPort = local.port
        else { return nil }
        return WebConnection(client: client, clientPort: clientPort, server: server, serverPort: serverPort)
    }
}

/// Both ends of a connection.
package struct WebConnection: Hashable, Sendable {
    /// Addresses in numbers.
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
}

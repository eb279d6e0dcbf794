package import Hummingbird
import NIOCore
import ServerKit

package struct CloudRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// Address under which requests without a token are counted: an IPv4 address, or the network of an IPv6 address,
    /// because one machine may have any number of addresses in it.
    package let address: String
    private let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = IPAddress.network(of: source.channel.remoteAddress)
        channel = source.channel
    }

    /// Classifies the client of the connection, which decides how long the connection is kept.
    func tell(_ standing: ConnectionVerdict) { channel.triggerUserOutboundEvent(standing, promise: nil) }
}

package import Hummingbird
import NIOCore
import ServerKit

package struct CloudRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// Address by which the rate of requests without a token is limited: an IPv4 address, or an IPv6 network, in which
    /// one machine may have any number of addresses.
    package let address: String
    private let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = IPAddress.network(of: source.channel.remoteAddress)
        channel = source.channel
    }

    /// Tells the connection whether its client presented a valid token, which decides how long the connection is kept.
    func tell(_ standing: ConnectionVerdict) { channel.triggerUserOutboundEvent(standing, promise: nil) }
}

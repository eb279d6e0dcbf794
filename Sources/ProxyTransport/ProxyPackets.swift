import BlueZTransport
import Domain

/// A link through a proxy. `Proxies` opens it and forwards its events.
final class ProxyPackets: ByteChannel, @unchecked Sendable {
    // Used only on the loop, so `@unchecked Sendable` is safe.

    let link: RadioLink
    private weak let proxies: Proxies?
    private var handle: (@Sendable (ChannelEvent) -> Void)?
    /// Attribute database and MTU of the link; nil until the link is up.
    private(set) var known: GATTSerialChannel.Known?

    init(_ link: RadioLink, over proxies: Proxies) { (self.link, self.proxies) = (link, proxies) }

    var isWanted: Bool { handle != nil }

    func begin(_ handle: @escaping @Sendable (ChannelEvent) -> Void) { self.handle = handle }

    func send(_ bytes: [UInt8]) { if isWanted { proxies?.assumeIsolated { $0.send(bytes, over: link) } } }

    func close() {
        guard isWanted else { return }
        handle = nil
        proxies?.assumeIsolated { $0.leave(self) }
    }

    // MARK: The proxy

    func opened(_ known: GATTSerialChannel.Known) {
        self.known = known
        handle?(.opened)
    }

    func received(_ packet: [UInt8]) { handle?(.received(packet)) }

    func ended(_ failure: ChannelFailure) {
        let last = handle
        handle = nil
        last?(.closed(failure))
    }
}

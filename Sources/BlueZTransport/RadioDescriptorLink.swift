import Domain
import LinuxIO

/// What links to a meter's radio have in common, whatever they carry.
protocol RadioDescriptorLink: DescriptorLink {
    var link: RadioLink { get }
    var transport: LinkAddress.Transport { get }
    var connectLimit: Duration { get }
    /// A socket that is connected or connecting.
    func connect() throws(Errno) -> any LinkEndpoint
}

extension RadioDescriptorLink {
    var name: String { "\(link.address)" }
    var remedy: String { "Move it nearer, or switch it off and on." }

    func open() throws(ChannelFailure) -> OpenedLink {
        do {
            return .connecting(try connect(), limit: connectLimit)
        } catch {
            throw failure(connecting: error)
        }
    }

    func failure(connecting reason: Errno) -> ChannelFailure { .connecting(link, over: transport, reason) }
    func failure(losing reason: Errno?) -> ChannelFailure { .losing(link, reason) }
}

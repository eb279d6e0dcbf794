import Domain
import LinuxIO

protocol RadioDescriptorLink: DescriptorLink {
    var link: RadioLink { get }
    var transport: LinkAddress.Transport { get }
    var connectLimit: Duration { get }
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

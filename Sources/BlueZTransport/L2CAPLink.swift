import Gateway
import LinuxIO
import MeterModel

/// The attribute protocol's channel of a meter's radio, as a link that carries packets.
struct L2CAPLink: DescriptorLink {
    let link: RadioLink
    let sockets: any RadioSockets
    let connectLimit: Duration

    var name: String { "\(link.address)" }
    var framing: Framing { .packets }
    var remedy: String { "Move it nearer, or switch it off and on." }

    func open() throws(ChannelFailure) -> OpenedLink {
        do {
            return .connecting(ATTSocket(descriptor: try sockets.connectATT(link)), limit: connectLimit)
        } catch {
            throw .connecting(link, over: .ble, error)
        }
    }

    func failure(connecting reason: Errno) -> ChannelFailure { .connecting(link, over: .ble, reason) }
    func failure(losing reason: Errno?) -> ChannelFailure { .losing(link, reason) }
}

import Gateway
import LinuxIO
import MeterModel

/// A serial port of a meter's radio, as a link that carries a stream.
struct RFCOMMLink: DescriptorLink {
    let link: RadioLink
    let channel: UInt8
    let sockets: any RadioSockets
    let connectLimit: Duration

    var name: String { "\(link.address)" }
    var framing: Framing { .stream }
    var remedy: String { "Move it nearer, or switch it off and on." }

    func open() throws(ChannelFailure) -> OpenedLink {
        do {
            return .connecting(try sockets.connectRFCOMM(link, channel: channel), limit: connectLimit)
        } catch {
            throw .connecting(link, over: .spp, error)
        }
    }

    func failure(connecting reason: Errno) -> ChannelFailure { .connecting(link, over: .spp, reason) }
    func failure(losing reason: Errno?) -> ChannelFailure { .losing(link, reason) }
}

import Domain
import LinuxIO

struct RFCOMMLink: RadioDescriptorLink {
    let link: RadioLink
    let channel: UInt8
    let sockets: any RadioSockets
    let connectLimit: Duration

    var transport: LinkAddress.Transport { .spp }
    var framing: Framing { .stream }

    func connect() throws(Errno) -> any LinkEndpoint { try sockets.connectRFCOMM(link, channel: channel) }
}

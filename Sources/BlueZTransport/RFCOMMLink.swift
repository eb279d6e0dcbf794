import Domain
import LinuxIO

/// A serial port of a meter's radio, as a link that carries a stream.
struct RFCOMMLink: RadioDescriptorLink {
    let link: RadioLink
    let channel: UInt8
    let sockets: any RadioSockets
    let connectLimit: Duration

    var transport: LinkAddress.Transport { .spp }
    var framing: Framing { .stream }

    func connect() throws(Errno) -> any LinkEndpoint { try sockets.connectRFCOMM(link, channel: channel) }
}

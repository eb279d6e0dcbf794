import Domain
import LinuxIO

struct L2CAPLink: RadioDescriptorLink {
    let link: RadioLink
    let sockets: any RadioSockets
    let connectLimit: Duration

    var transport: LinkAddress.Transport { .ble }
    var framing: Framing { .packets }

    func connect() throws(Errno) -> any LinkEndpoint { ATTSocket(descriptor: try sockets.connectATT(link)) }
}

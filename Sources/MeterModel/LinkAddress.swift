/// Where one end of a link to a meter is on this host.
package enum LinkAddress: Hashable, Sendable {
    /// A terminal device: USB CDC, a USB serial adapter, a bound RFCOMM port or a pseudo-terminal.
    case serial(path: String)

    /// The transport's name in output: `serial` (later `ble`, `spp`, `hid`).
    package var transport: String {
        switch self {
        case .serial: "serial"
        }
    }

    /// The address as a person would look for it.
    package var display: String {
        switch self {
        case .serial(let path): path
        }
    }
}

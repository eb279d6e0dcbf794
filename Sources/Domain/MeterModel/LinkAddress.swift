package enum LinkAddress: Hashable, Sendable {
    /// USB CDC, a USB serial adapter, a bound RFCOMM port or a pseudo-terminal.
    case serial(path: String)
    /// Raw HID, `/dev/hidraw…`.
    case hid(path: String)
    /// USB vendor-specific interface with bulk transfers, `/dev/bus/usb/…`.
    case bulk(path: String)
    /// A board that sends readings as lines of text. `host` includes the port unless it is the default.
    case network(host: String)
    /// Bluetooth LE, over GATT characteristics.
    case ble(RadioLink)
    /// Bluetooth Classic: Serial Port Profile over RFCOMM.
    case spp(RadioLink)
    /// No link: meterd computes the meter's readings by the formula of this name in the configuration.
    case computed(name: String)

    /// Raw values are used in output and in the store.
    package enum Transport: String, CaseIterable, Sendable {
        case serial, hid, bulk, network, ble, spp, computed
    }

    package var transport: Transport {
        switch self {
        case .serial: .serial
        case .hid: .hid
        case .bulk: .bulk
        case .network: .network
        case .ble: .ble
        case .spp: .spp
        case .computed: .computed
        }
    }

    package var isRadio: Bool {
        switch self {
        case .serial, .hid, .bulk, .network, .computed: false
        case .ble, .spp: true
        }
    }

    /// Whether the link uses a radio or the network, so that connecting takes long.
    package var isFar: Bool { if case .network = self { true } else { isRadio } }

    /// Device node, the board's host, or the formula's name; nil over a radio.
    package var node: String? {
        switch self {
        case .serial(let path), .hid(let path), .bulk(let path), .network(let path), .computed(let path): path
        case .ble, .spp: nil
        }
    }

    /// This host's radio adapter; nil for other links.
    package var adapter: MACAddress? {
        switch self {
        case .serial, .hid, .bulk, .network, .computed: nil
        case .ble(let link), .spp(let link): link.adapter
        }
    }

    /// Device node, network board's host, radio adapter, or formula's name.
    package var display: String {
        switch self {
        case .serial(let path), .hid(let path), .bulk(let path), .network(let path): path
        case .computed(let name): "formula \(name)"
        case .ble(let link), .spp(let link): "via \(link.adapter)"
        }
    }

    /// Text for the store; inverse of `init(transport:stored:)`.
    package var stored: String {
        switch self {
        case .serial(let path), .hid(let path), .bulk(let path), .network(let path), .computed(let path): path
        case .ble(let link), .spp(let link): link.description
        }
    }

    /// Fails if this version does not support the transport or the text.
    package init?(transport: String, stored: String) {
        switch Transport(rawValue: transport) {
        case .serial: self = .serial(path: stored)
        case .hid: self = .hid(path: stored)
        case .bulk: self = .bulk(path: stored)
        case .network: self = .network(host: stored)
        case .computed: self = .computed(name: stored)
        case .ble:
            guard let link = RadioLink(stored) else { return nil }
            self = .ble(link)
        case .spp:
            guard let link = RadioLink(stored) else { return nil }
            self = .spp(link)
        case nil: return nil
        }
    }
}

/// A meter's radio as reached through one adapter.
package struct RadioLink: Hashable, Sendable {
    package var address: MACAddress
    /// Whether the address is random, which a connection over LE must state. False for Bluetooth Classic.
    package var isRandom: Bool
    /// Address of this host's adapter. Not its name, because `hci0` may be another one after a reset.
    package var adapter: MACAddress

    package init(address: MACAddress, isRandom: Bool, adapter: MACAddress) {
        self.address = address
        self.isRandom = isRandom
        self.adapter = adapter
    }

    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3 || parts.count == 4 && parts[1] == "random", parts[parts.count - 2] == "via",
            let address = MACAddress(parts[0]), let adapter = MACAddress(parts[parts.count - 1])
        else { return nil }
        self.init(address: address, isRandom: parts.count == 4, adapter: adapter)
    }
}

extension RadioLink: CustomStringConvertible {
    package var description: String { "\(address)\(isRandom ? " random" : "") via \(adapter)" }
}

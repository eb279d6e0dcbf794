package enum LinkAddress: Hashable, Sendable {
    /// A terminal device: USB CDC, a USB serial adapter, a bound RFCOMM port or a pseudo-terminal.
    case serial(path: String)
    /// A raw HID device node, `/dev/hidraw…`.
    case hid(path: String)
    /// The vendor interface of a USB device, over bulk transfers: the device's node, `/dev/bus/usb/…`.
    case bulk(path: String)
    /// A board that sends its readings over the network as lines of text. `host` includes the port unless it is the
    /// default one.
    case network(host: String)
    /// Bluetooth LE: bytes through GATT characteristics.
    case ble(RadioLink)
    /// Bluetooth Classic: the Serial Port Profile, over RFCOMM.
    case spp(RadioLink)

    /// The raw value is the name in output and in the store.
    package enum Transport: String, CaseIterable, Sendable {
        case serial, hid, bulk, network, ble, spp
    }

    package var transport: Transport {
        switch self {
        case .serial: .serial
        case .hid: .hid
        case .bulk: .bulk
        case .network: .network
        case .ble: .ble
        case .spp: .spp
        }
    }

    package var isRadio: Bool {
        switch self {
        case .serial, .hid, .bulk, .network: false
        case .ble, .spp: true
        }
    }

    /// Whether the link uses the network or a radio, so that connecting takes long.
    package var isFar: Bool { if case .network = self { true } else { isRadio } }

    /// Device node, or the board's host; nil over a radio.
    package var node: String? {
        switch self {
        case .serial(let path), .hid(let path), .bulk(let path), .network(let path): path
        case .ble, .spp: nil
        }
    }

    /// This host's adapter for the meter; nil without a radio.
    package var adapter: MACAddress? {
        switch self {
        case .serial, .hid, .bulk, .network: nil
        case .ble(let link), .spp(let link): link.adapter
        }
    }

    /// Address for people: the device node, the board's host, or the adapter.
    package var display: String {
        switch self {
        case .serial(let path), .hid(let path), .bulk(let path), .network(let path): path
        case .ble(let link), .spp(let link): "via \(link.adapter)"
        }
    }

    /// Text for the store; `init(transport:stored:)` reads it back together with `transport`.
    package var stored: String {
        switch self {
        case .serial(let path), .hid(let path), .bulk(let path), .network(let path): path
        case .ble(let link), .spp(let link): link.description
        }
    }

    /// - Returns: nil if this version does not support the transport or cannot read the text.
    package init?(transport: String, stored: String) {
        switch Transport(rawValue: transport) {
        case .serial: self = .serial(path: stored)
        case .hid: self = .hid(path: stored)
        case .bulk: self = .bulk(path: stored)
        case .network: self = .network(host: stored)
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

/// A meter's radio as received by one adapter of this host.
package struct RadioLink: Hashable, Sendable {
    package var address: MACAddress
    /// Whether the LE address is random, which a connect must specify. False over Bluetooth Classic.
    package var isRandom: Bool
    /// Address of this host's adapter. Its name is not used, because `hci0` may be another adapter after a reset.
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

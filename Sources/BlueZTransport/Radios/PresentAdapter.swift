import BluetoothCore
import Gateway
import GatewayAPI
import IOPorts
import MeterModel

/// An adapter that is there.
struct PresentAdapter: Sendable {
    /// The kernel's number for it.
    let index: UInt16
    var machine: AdapterMachine
    /// The state last shown, and since when.
    var state: AdapterState
    var since: WallTime

    var name: String { AdapterFiles.name(ofIndex: index) }

    /// Nil until the adapter has reported it.
    var address: MACAddress? { machine.info?.address ?? lastAddress }
    /// The address before the adapter was read again.
    var lastAddress: MACAddress?

    func status(
        at now: MonotonicTime, heard: Int, dropped: Int = 0, pairing: PairingStatus? = nil
    ) -> AdapterStatus {
        AdapterStatus(
            address: address?.description ?? "unknown", name: name, state: state.shown, since: since.description,
            links: machine.linkCount, links_max: machine.linksMax, heard: heard, dropped: dropped,
            recoveries: machine.recoveries, discovery: machine.discoveryOwner?.shown,
            discovery_ms: machine.discoveryTime(at: now).milliseconds, pairing: pairing, error: machine.trouble)
    }
}

extension [PresentAdapter] {
    func isLinked(_ sighting: RadioSighting) -> Bool {
        contains {
            $0.address == sighting.adapter
                && $0.machine.isLinked(
                    SlotKey(sighting.device.address, isClassic: sighting.device.kind == .classic))
        }
    }
}

extension AdapterMachine.DiscoveryOwner {
    fileprivate var shown: AdapterStatus.Discovery {
        switch self {
        case .own: .own
        case .another: .another
        }
    }
}

extension AdapterState {
    var shown: AdapterStatus.State {
        switch self {
        case .searching: .searching
        case .idle: .idle
        case .starting: .starting
        case .recovering: .recovering
        case .blocked: .blocked
        case .failed: .failed
        case .forbidden: .forbidden
        }
    }
}

extension SightingEvent {
    init(_ event: RadioSightingEvent) {
        switch event {
        case .appeared(let sighting): self = .appeared(Sighting(sighting))
        case .heard(let sighting):
            let shown = Sighting(sighting)
            self = .heard(shown.id, shown.link, rssi: shown.rssi)
        case .vanished(let sighting): self = .vanished(Sighting(sighting))
        }
    }
}

extension Sighting {
    init(_ sighting: RadioSighting) {
        let radio = RadioLink(
            address: sighting.device.address, isRandom: sighting.device.kind == .leRandom, adapter: sighting.adapter)
        self.init(
            id: .mac(sighting.device.address), model: sighting.model, name: sighting.name,
            link: sighting.device.kind == .classic ? .spp(radio) : .ble(radio), rssi: sighting.rssi)
    }
}

extension ScanOther {
    init(_ radio: PassedOverRadio) {
        let device = radio.sighting.device
        self.init(
            address: device.address.description, transport: device.kind == .classic ? "spp" : "ble",
            adapter: radio.sighting.adapter.description, name: radio.sighting.name, rssi: radio.sighting.rssi,
            looks_like_meter: radio.looksLikeMeter, reason: radio.reason.words)
    }
}

extension PassedOverRadio.Reason {
    fileprivate var words: String {
        switch self {
        case .noMeter: "neither its name nor its services are a meter's"
        case .address(.blank): "its address is all zeros or all ones, which no device has"
        case .address(.changing): "its address changes every few minutes, so that nothing could be remembered of it"
        case .reservedAddress: "its address is of a kind that the standard reserves"
        case .noRoom: "\(RadioSightings.metersMax) devices that look like meters are there already"
        }
    }
}

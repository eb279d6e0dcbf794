package import BluetoothCore
package import Domain
import Gateway
package import GatewayAPI
import Logging

struct PresentAdapter: Sendable {
    let index: UInt16
    var machine: AdapterMachine
    private(set) var state: AdapterState
    private var since: WallTime
    private var lastAddress: MACAddress?

    init(index: UInt16, machine: AdapterMachine, since: WallTime) {
        self.index = index
        self.machine = machine
        state = machine.state
        self.since = since
    }

    var name: String { AdapterFiles.name(ofIndex: index) }

    /// Nil until the adapter has reported its address.
    var address: MACAddress? { machine.info?.address ?? lastAddress }

    var metadata: Logger.Metadata {
        ["adapter.name": "\(name)", "adapter.address": "\(address?.description ?? "unknown")"]
    }

    mutating func learnAddress() -> MACAddress? {
        guard let address = machine.info?.address, address != lastAddress else { return nil }
        lastAddress = address
        return address
    }

    mutating func cameBack(_ before: AdapterStatus) {
        machine.count(recoveries: before.recoveries, discoveryTime: .milliseconds(before.discovery_ms))
    }

    /// Updates `state` from the machine, and `since` if the state changed.
    ///
    /// - Returns: the previous state; nil if unchanged.
    mutating func showState(since now: @autoclosure () -> WallTime) -> AdapterState? {
        let new = machine.state
        guard new != state else { return nil }
        defer {
            state = new
            since = now()
        }
        return state
    }

    // MARK: Status

    func status(
        at now: MonotonicTime, heard: Int, dropped: Int = 0, pairing: PairingStatus? = nil
    ) -> AdapterStatus {
        AdapterStatus(
            address: address?.description ?? "unknown", name: name, state: state.shown, since: since.description,
            links: machine.linkCount, links_max: machine.linksMax, heard: heard, dropped: dropped,
            recoveries: machine.recoveries, discovery: machine.discoveryOwner?.shown,
            discovery_ms: machine.discoveryTime(at: now).milliseconds, pairing: pairing, error: machine.trouble)
    }

    func goneStatus(at now: MonotonicTime, since: WallTime) -> AdapterStatus {
        var status = status(at: now, heard: 0)
        status.name = nil
        status.state = .gone
        status.discovery = nil
        status.since = since.description
        status.links = 0
        status.error = goneText
        return status
    }

    private var goneText: String {
        guard machine.isResettingChip, machine.chipReset == .serialDevice else {
            return "It was unplugged, or it fell off its bus. Plug it in again."
        }
        return
            "Its serial device is being unbound and bound. Where it is not back within a minute, restart the machine."
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

extension DiscoveryOwner {
    fileprivate var shown: AdapterStatus.Discovery {
        switch self {
        case .own: .own
        case .another: .another
        }
    }
}

extension AdapterState {
    package var shown: AdapterStatus.State {
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
    package init(_ event: RadioSightingEvent) {
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
    package init(_ radio: PassedOverRadio) {
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

import BlueZTransport
import BluetoothCore
import Domain
import ESPHomeCore
import GatewayAPI
import LinuxIO
import Logging

struct PresentProxy {
    let settings: NodeSettings
    var machine: ProxyMachine
    var connection: DescriptorChannel?
    /// Channel that owns each link, by the meter's address.
    var owners: [MACAddress: ProxyPackets] = [:]
    var isScanning = false
    private(set) var state = AdapterState.starting
    private var since: WallTime
    private var scanned = Duration.zero
    private var scanningSince: MonotonicTime?
    private var shown: Shown?

    private struct Shown: Hashable {
        var state: AdapterState
        var links: Int
        var linksMax: Int?
        var isScanning: Bool
        var recoveries: Int
        var info: ProxyInfo?
        var trouble: String?
    }

    init(_ settings: NodeSettings, since: WallTime) {
        self.settings = settings
        self.since = since
        machine = ProxyMachine(settings)
    }

    /// Address of the proxy's radio; nil until the first connection.
    var address: MACAddress? { machine.info?.address }

    var metadata: Logger.Metadata { ["proxy": "\(settings.display)"] }

    /// Copies the proxy's state from the state machine to `state`. Returns the previous state; nil if it has not
    /// changed.
    mutating func showState(at now: MonotonicTime, since wallNow: @autoclosure () -> WallTime) -> AdapterState? {
        let new = machine.state(at: now)
        guard new != state else { return nil }
        defer { (state, since) = (new, wallNow()) }
        return state
    }

    mutating func noteScanning(at now: MonotonicTime) -> Bool {
        guard isScanning != machine.isScanning else { return false }
        isScanning = machine.isScanning
        if let scanningSince { scanned += now - scanningSince }
        scanningSince = isScanning ? now : nil
        return true
    }

    /// Returns whether a field of `Shown` has changed since the last call.
    mutating func takeNews() -> Bool {
        let new = Shown(
            state: state, links: machine.linkCount, linksMax: machine.linkLimit, isScanning: machine.isScanning,
            recoveries: machine.recoveries, info: machine.info, trouble: machine.trouble)
        defer { shown = new }
        return new != shown
    }

    func status(at now: MonotonicTime, heard: Int, dropped: Int) -> AdapterStatus {
        let time = scanned + (scanningSince.map { now - $0 } ?? .zero)
        var status = AdapterStatus(
            address: address?.description ?? settings.display, name: settings.display,
            state: state.shown, since: since.description, links: machine.linkCount,
            links_max: machine.linkLimit ?? 0, heard: heard, dropped: dropped, recoveries: machine.recoveries,
            discovery: machine.isScanning ? .own : nil, discovery_ms: time.milliseconds, error: machine.trouble)
        status.proxy = ProxyStatus(
            name: machine.info?.name, version: machine.info?.version, encrypted: settings.keyPath != nil)
        return status
    }
}

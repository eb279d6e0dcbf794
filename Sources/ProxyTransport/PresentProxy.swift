import BlueZTransport
import BluetoothCore
import Domain
import ESPHomeCore
import GatewayAPI
import LinuxIO
import Logging

/// A proxy that is configured, and what belongs to its connection.
struct PresentProxy {
    let settings: NodeSettings
    var machine: ProxyMachine
    var connection: DescriptorChannel?
    /// Channels of links, by the meter's address.
    var owners: [MACAddress: ProxyPackets] = [:]
    /// Whether it was last said to search.
    var isScanning = false
    /// The state last shown, and since when.
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

    /// Nil until it was reached.
    var address: MACAddress? { machine.info?.address }

    var metadata: Logger.Metadata { ["proxy": "\(settings.display)"] }

    /// Shows the machine's state.
    ///
    /// - Returns: the state shown before. Nil if it is the same.
    mutating func showState(at now: MonotonicTime, since wallNow: @autoclosure () -> WallTime) -> AdapterState? {
        let new = machine.state(at: now)
        guard new != state else { return nil }
        defer { (state, since) = (new, wallNow()) }
        return state
    }

    /// - Returns: whether it began or ceased to search.
    mutating func noteScanning(at now: MonotonicTime) -> Bool {
        guard isScanning != machine.isScanning else { return false }
        isScanning = machine.isScanning
        if let scanningSince { scanned += now - scanningSince }
        scanningSince = isScanning ? now : nil
        return true
    }

    /// Whether `status`, apart from counts, differs from the last call.
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

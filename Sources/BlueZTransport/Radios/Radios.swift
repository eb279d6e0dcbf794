package import BluetoothCore
import Gateway
package import GatewayAPI
import Glibc
package import IOPorts
package import LinuxIO
package import Logging
package import MeterModel

/// This host's Bluetooth adapters: finds them, keeps each searching, reports the meters they hear, and grants links.
///
/// Adapters are identified by their own addresses, because the kernel's numbers change. bluetoothd may run at the same
/// time: the kernel reports to both, and nothing is changed that searching does not need.
package actor Radios: RadioSource, RadioSlots {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package struct Configuration: Sendable {
        package var timing = AdapterTiming()
        package var sightings = SightingTiming()
        /// The adapters to use; empty for all of them.
        package var adapters: Set<MACAddress> = []
        /// Number of links an adapter is assumed to support.
        package var linksMax = 5
        /// How much airtime the search may use.
        package var search = SearchMode.gentle
        /// How long a person counts as looking after their last request.
        package var byHand: Duration = .seconds(5)
        /// How often to check for meters that are no longer heard.
        package var expiryInterval: Duration = .seconds(5)
        /// How soon to retry if the kernel has no Bluetooth, or the channel is lost.
        package var reopenInterval: Duration = .seconds(30)
        /// For meters that want a PIN: every known meter has this one (Docs/Protocols/UM.md#links).
        package var pin = "1234"
        /// Whether this program becomes bluetoothd's agent, if bluetoothd runs, while a link is made to a meter that it
        /// is not paired with: without an agent it refuses PINs at once (Docs/Decisions/0019).
        package var isAgent = false
        /// Where to find bluetoothd. Nil for the system bus.
        package var busAddress: String?
        package var files = AdapterFiles()
        /// The kernel's management channel.
        package var openSocket: @Sendable () throws(Errno) -> FileDescriptor = { () throws(Errno) in
            try ManagementChannel.openSocket()
        }

        package init() {}
    }

    nonisolated let loop: IOLoop
    nonisolated let configuration: Configuration
    nonisolated let logger: Logger
    var channel: ManagementChannel?
    var rfkill: RfkillWatch?
    /// Adapters that are there: a handful, so that a search costs less than a table.
    var present: [PresentAdapter] = []
    /// Adapters that were there, as they are shown.
    var gone: [MACAddress: AdapterStatus] = [:]
    /// When each chip's serial device was last unbound and bound.
    var rebinds: [String: MonotonicTime] = [:]
    /// The trace for a maintainer.
    var trace = ManagementTrace()
    var sightings: RadioSightings
    /// What the meters need, once a source is set.
    var demand: (@Sendable () -> RadioDemand)?
    var byHandUntil: MonotonicTime?
    var agent: PairingAgent?
    /// For Classic links that are up or being made.
    var pairings: [AgentDevice: PairingAttempt] = [:]
    private var report: (@Sendable (SightingEvent) -> Void)?
    private var alarm: Alarm
    private var expiresAt = MonotonicTime.origin
    private var reopensAt: MonotonicTime?
    private var lastProblem: Errno?
    private var faults = 0

    package init(loop: IOLoop, configuration: Configuration = Configuration(), logger: Logger) {
        self.loop = loop
        alarm = Alarm(on: loop)
        self.configuration = configuration
        self.logger = logger
        sightings = RadioSightings(timing: configuration.sightings)
    }

    // MARK: Life

    package func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        self.report = report
        open()
        openAgent()
        // Ends with the task.
        for await _ in AsyncStream<Never>.makeStream().stream {}
        shut()
    }

    package func adapters() -> [AdapterStatus] {
        let now = loop.now
        let here = present.map { adapter in
            adapter.status(
                at: now, heard: adapter.address.map { sightings.count(heardBy: $0, at: now) } ?? 0,
                dropped: adapter.address.map { sightings.droppedCount(heardBy: $0, at: now) } ?? 0,
                pairing: PairingStatus(bondable: adapter.machine.isBondable, agent: shownAgent, error: agentTrouble))
        }
        let missed = gone.values.filter { missed in !here.contains { $0.address == missed.address } }
        return (here + missed).sorted { $0.address < $1.address }
    }

    package func others() -> [ScanOther] { sightings.passedOver(at: loop.now).map { ScanOther($0) } }

    private func open() {
        let listener = ManagementChannel.Listener(
            report: { [weak self] index, report, now in
                self?.assumeIsolated { $0.heard(report, by: index, at: now) }
            },
            event: { [weak self] index, event, now in
                self?.assumeIsolated { $0.take(event, of: index, at: now) }
            },
            fault: { [weak self] fault in self?.assumeIsolated { $0.noteFault(fault) } },
            closed: { [weak self] reason in self?.assumeIsolated { $0.lost(reason) } })
        do throws(Errno) {
            let channel = ManagementChannel(
                socket: try configuration.openSocket(), loop: loop, listener: listener)
            try channel.begin()
            self.channel = channel
            lastProblem = nil
            let rfkill = RfkillWatch(files: configuration.files, loop: loop) { [weak self] adapter, block in
                self?.assumeIsolated { $0.blockChanged(adapter, block) }
            }
            rfkill.begin()
            self.rfkill = rfkill
            channel.send(.readIndexList, to: ManagementPacket.noIndex)
        } catch {
            noteProblem(error)
        }
        rearm()
    }

    private func shut() {
        report = nil
        for adapter in present {
            // Nobody waits for the answers: the kernel receives the commands, and the channel is closed.
            for command in adapter.machine.farewell { channel?.send(command, to: adapter.index) }
        }
        close()
        agent?.close()
        agent = nil
        present = []
        pairings = [:]
        alarm.cancel()
    }

    private func close() {
        channel?.close()
        channel = nil
        rfkill?.close()
        rfkill = nil
    }

    private func lost(_ reason: Errno) {
        guard channel != nil else { return }
        close()
        for adapter in present { removed(adapter.index) }
        noteProblem(reason)
        rearm()
    }

    /// Logged once for as long as it lasts; a machine without Bluetooth is not at fault.
    private func noteProblem(_ problem: Errno) {
        reopensAt = loop.now + configuration.reopenInterval
        guard problem != lastProblem else { return }
        lastProblem = problem
        let isAbsent = problem.code == EAFNOSUPPORT || problem.code == EPROTONOSUPPORT
        logger.log(
            level: isAbsent ? .info : .warning,
            isAbsent ? "no Bluetooth in this kernel" : "Bluetooth management channel not open",
            metadata: ["cause": "\(problem)"])
    }

    private func noteFault(_ fault: ManagementFault) {
        faults += 1
        // Logs the first, then ever fewer.
        guard faults & (faults - 1) == 0 else { return }
        logger.warning("malformed Bluetooth packet", metadata: ["cause": "\(fault)", "count": "\(faults)"])
    }

    // MARK: Time

    /// To be called after anything that may change when something is due.
    func rearm() {
        var next = expiresAt
        if channel == nil {
            guard let reopensAt else { return }
            next = reopensAt
        }
        for adapter in present { if let wake = adapter.machine.nextWake { next = min(next, wake) } }
        alarm.set(to: next) { [weak self] in self?.assumeIsolated { $0.woke() } }
    }

    private func woke() {
        alarm.rang()
        guard report != nil else { return }
        let now = loop.now
        if channel == nil, let reopensAt, now >= reopensAt { return open() }
        channel?.expire()
        for adapter in present where adapter.machine.nextWake.map({ $0 <= now }) == true {
            // By number, because what one does may remove another.
            update(adapter.index, at: now) { $0.woke(at: now) }
        }
        if now >= expiresAt {
            expiresAt = now + configuration.expiryInterval
            lookAtDemand()
            let adapters = present
            tell(sightings.expire(at: now) { sighting in adapters.isLinked(sighting) })
        }
        rearm()
    }

    func tell(_ events: [RadioSightingEvent]) {
        guard let report else { return }
        for event in events { report(SightingEvent(event)) }
    }
}

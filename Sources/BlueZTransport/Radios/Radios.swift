import BluetoothCore
package import Domain
package import Gateway
package import GatewayAPI
import Glibc
package import LinuxIO
package import Logging

/// Keeps this host's Bluetooth adapters searching, reports the meters found, and grants slots for links.
///
/// An adapter's own address identifies it, because the kernel's adapter numbers change. bluetoothd may run at the same
/// time, so this program changes only settings that the search needs.
package actor Radios: RadioSource, RadioSlots {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    nonisolated let loop: IOLoop
    private nonisolated let configuration: Configuration
    private nonisolated let logger: Logger
    let kernel: KernelConnection
    let pairings: Pairings
    private let chipResets: ChipResets
    private(set) var present: [PresentAdapter] = []
    private var gone: [MACAddress: AdapterStatus] = [:]
    private var sightings: RadioSightings
    private var demands = DemandSource()
    private var remedied: @Sendable (AdapterRemedy) -> Void = { _ in }
    private var changed: @Sendable () -> Void = {}
    private var report: (@Sendable (SightingEvent) -> Void)?
    private var alarm: Alarm
    private var expiresAt = MonotonicTime.origin

    package init(loop: IOLoop, configuration: Configuration = Configuration(), logger: Logger) {
        self.loop = loop
        self.configuration = configuration
        self.logger = logger
        alarm = Alarm(on: loop)
        kernel = KernelConnection(configuration: configuration, loop: loop, logger: logger)
        chipResets = ChipResets(files: configuration.files, loop: loop)
        pairings = Pairings(configuration: configuration, kernel: kernel, loop: loop, logger: logger)
        sightings = RadioSightings(timing: configuration.sightings)
    }

    // MARK: Life

    package func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        self.report = report
        open()
        pairings.open {
            [weak self] in
            self?.assumeIsolated { $0.agentLeaves() }
        } changed: {
            [weak self] in
            self?.assumeIsolated { $0.changed() }
        }
        for await _ in AsyncStream<Never>.makeStream().stream {}
        shut()
    }

    private func open() {
        let listener = ManagementChannel.Listener(
            report: { [weak self] index, report, now in
                self?.assumeIsolated { $0.heard(report, by: index, at: now) }
            },
            event: { [weak self] index, event, now in
                self?.assumeIsolated { $0.handle(event, of: index, at: now) }
            },
            fault: { [weak self] fault in self?.assumeIsolated { $0.kernel.malformed(fault) } },
            closed: { [weak self] reason in self?.assumeIsolated { $0.lost(reason) } })
        kernel.open(listener) { [weak self] adapter, block in
            self?.assumeIsolated { $0.blockChanged(adapter, block) }
        }
        rearm()
    }

    private func shut() {
        report = nil
        for adapter in present {
            // The kernel still receives these commands: only their answers are lost when the channel is closed.
            for command in adapter.machine.farewell { kernel.send(command, to: adapter.index) }
        }
        kernel.close()
        pairings.close()
        present = []
        alarm.cancel()
    }

    private func lost(_ reason: Errno) {
        guard kernel.isOpen else { return }
        kernel.close()
        for adapter in present { removed(adapter.index) }
        kernel.failed(reason)
        rearm()
    }

    // MARK: Report

    package func adapters() -> [AdapterStatus] {
        let now = loop.now
        let here = present.map { adapter in
            adapter.status(
                at: now, heard: adapter.address.map { sightings.count(heardBy: $0, at: now) } ?? 0,
                dropped: adapter.address.map { sightings.droppedCount(heardBy: $0, at: now) } ?? 0,
                pairing: pairings.status(isBondable: adapter.machine.isBondable))
        }
        let missed = gone.values.filter { missed in !here.contains { $0.address == missed.address } }
        return (here + missed).sorted { $0.address < $1.address }
    }

    package func others() -> [ScanOther] { sightings.passedOver(at: loop.now).map { ScanOther($0) } }

    package func support() -> SupportRadios {
        SupportRadios(adapters: present, sightings: sightings, trace: kernel.traced, at: loop.now)
    }

    // MARK: The kernel's events

    /// Handles a report. The busiest path: 200 advertisers cause some thousand calls a second.
    private func heard(_ report: DeviceReport, by index: UInt16, at now: MonotonicTime) {
        guard let place = place(of: index), let address = present[place].address else { return }
        let actions = present[place].machine.heard(at: now)
        // Another program's discovery also delivers device reports to an idle adapter, which then counts as searching:
        // update its state.
        if !actions.isEmpty || present[place].state == .idle { perform(actions, at: place, now) }
        if let event = sightings.heard(report, by: address, at: now) { tell([event]) }
        if report.flags.contains(.confirmName) {
            // The kernel looks up a name that this program reports as unknown. A name from an inquiry's answer counts
            // as known.
            let isKnown = sightings.isNamed(report.address, heardBy: address)
            kernel.send(.confirmName(report.address, isKnown: isKnown), to: index)
        }
    }

    private func handle(_ event: ManagementEvent, of index: UInt16, at now: MonotonicTime) {
        kernel.record(event, of: index, at: now)
        switch event {
        case .commandComplete(let opcode, let status, let parameters):
            guard index != ManagementPacket.noIndex else { return addListed(opcode, status, parameters) }
            answered(opcode, status, parameters, by: index, at: now)
        case .commandStatus(let opcode, let status): answered(opcode, status, [], by: index, at: now)
        case .indexAdded: added(index)
        case .indexRemoved: removed(index)
        case .newSettings(let settings): update(index, at: now) { $0.settingsChanged(settings, at: now) }
        case .discovering(let kinds, let isOn):
            if let address = adapter(index)?.address {
                sightings.discovering(kinds, isOn: isOn, by: address, at: now)
            }
            update(index, at: now) { $0.discovering(kinds, isOn: isOn, at: now) }
        case .controllerError(let code): update(index, at: now) { $0.controllerFailed(code: code, at: now) }
        case .deviceConnected(let device):
            update(index, at: now) { machine in
                machine.deviceConnected(device)
                return []
            }
        case .deviceDisconnected(let device, _):
            update(index, at: now) { machine in
                machine.deviceDisconnected(device)
                return []
            }
        case .pinCodeRequest, .userConfirmationRequest, .userPasskeyRequest, .authenticationFailed, .newLinkKey,
            .connectFailed(_, .authenticationFailed):
            if let adapter = adapter(index) { pairings.answer(event, over: adapter) }
        case .deviceUnblocked(let device) where device.address == MACAddress(bits: 0):
            update(index, at: now) { $0.managerCame(at: now) }
        case .deviceUnblocked, .deviceFound, .connectFailed, .controllerSuspended, .controllerResumed, .other: break
        }
    }

    private func answered(
        _ opcode: UInt16, _ status: ManagementStatus, _ parameters: [UInt8], by index: UInt16, at now: MonotonicTime
    ) {
        pairings.answered(opcode, status, by: index)
        update(index, at: now) { $0.answered(opcode: opcode, status, parameters: parameters, at: now) }
    }

    private func blockChanged(_ name: String, _ block: RadioBlock) {
        let now = loop.now
        guard let index = present.first(where: { $0.name == name })?.index else { return }
        update(index, at: now) { $0.blockChanged(block, at: now) }
    }

    private func agentLeaves() {
        let now = loop.now
        for place in present.indices { present[place].machine.agentLeaves(at: now) }
        changed()
    }

    // MARK: Adapters

    private func addListed(_ opcode: UInt16, _ status: ManagementStatus, _ parameters: [UInt8]) {
        // An unreadable list is ignored: the kernel also reports each new adapter.
        guard opcode == ManagementCommand.readIndexList.opcode, status == .success,
            let list = try? ControllerIndexList(parameters)
        else { return }
        for index in list.indexes where place(of: index) == nil { added(index) }
        if list.indexes.isEmpty { logger.info("no Bluetooth adapter found") }
    }

    private func added(_ index: UInt16) {
        removed(index)
        let name = AdapterFiles.name(ofIndex: index)
        var machine = AdapterMachine(
            timing: configuration.timing, linksMax: configuration.linksMax, block: kernel.block(of: name),
            mode: configuration.search, isShared: configuration.files.isOnBoard(name))
        chipResets.prepare(&machine, of: name)
        present.append(PresentAdapter(index: index, machine: machine, since: loop.wallNow))
        logger.info("adapter added", metadata: ["adapter.name": "\(name)"])
        let now = loop.now
        update(index, at: now) { $0.begin(at: now) }
        lookAtDemand()
    }

    private func removed(_ index: UInt16) {
        guard let place = place(of: index) else { return }
        let adapter = present.remove(at: place)
        changed()
        kernel.forget(index)
        logger.warning("adapter removed", metadata: adapter.metadata)
        guard let address = adapter.address else { return }
        gone[address] = adapter.goneStatus(at: loop.now, since: loop.wallNow)
        tell(sightings.adapterLost(address) { _ in false })
    }

    private func leaveAlone(_ place: Int) {
        let adapter = present.remove(at: place)
        kernel.forget(adapter.index)
        logger.info("adapter excluded by the configuration", metadata: adapter.metadata)
    }

    private func place(of index: UInt16) -> Int? { present.firstIndex { $0.index == index } }
    private func adapter(_ index: UInt16) -> PresentAdapter? { place(of: index).map { present[$0] } }

    // MARK: Machines

    func update(
        _ index: UInt16, at now: MonotonicTime, _ event: (inout AdapterMachine) -> [AdapterAction]
    ) {
        guard let place = place(of: index) else { return }
        perform(event(&present[place].machine), at: place, now)
        rearm()
    }

    private func perform(_ actions: [AdapterAction], at place: Int, _ now: MonotonicTime) {
        changed()
        if let address = present[place].learnAddress() {
            guard configuration.adapters.isEmpty || configuration.adapters.contains(address) else {
                return leaveAlone(place)
            }
            if let before = gone.removeValue(forKey: address) { present[place].cameBack(before) }
        }
        for action in actions { perform(action, of: present[place], now) }
        stateChanged(place)
    }

    private func perform(_ action: AdapterAction, of adapter: PresentAdapter, _ now: MonotonicTime) {
        switch action {
        case .send(let command):
            kernel.send(command, to: adapter.index, patience: configuration.timing.limit(of: command), at: now)
        case .resetChip(let reset):
            chipResets.perform(reset, of: adapter.name, at: now) { [weak self] isDone in
                self?.assumeIsolated { $0.chipWasReset(adapter, isDone: isDone) }
            }
        case .note(let remedy, let reason):
            logger.warning(
                "adapter recovery started",
                metadata: adapter.metadata.merging(["remedy": "\(remedy.words)", "cause": "\(reason)"]) { $1 })
            guard let address = adapter.address else { return }
            remedied(AdapterRemedy(adapter: address, words: remedy.words, cause: reason))
        case .noteRecovered: logger.info("adapter recovered", metadata: adapter.metadata)
        case .noteBondableContested:
            logger.warning("adapter setting Bondable switched off by another program", metadata: adapter.metadata)
        }
    }

    private func chipWasReset(_ adapter: PresentAdapter, isDone: Bool) {
        if isDone {
            logger.info("adapter chip reset", metadata: adapter.metadata)
        } else {
            logger.warning("adapter chip reset failed", metadata: adapter.metadata)
        }
        let now = loop.now
        update(adapter.index, at: now) { $0.chipReset(isDone: isDone, at: now) }
    }

    private func stateChanged(_ place: Int) {
        guard let before = present[place].showState(since: loop.wallNow) else { return }
        let adapter = present[place]
        var metadata = adapter.metadata
        metadata["state"] = "\(adapter.state.rawValue)"
        metadata["before"] = "\(before.rawValue)"
        if let trouble = adapter.machine.trouble { metadata["cause"] = "\(trouble)" }
        let isRoutine = [adapter.state, before].allSatisfy { [.searching, .idle, .starting].contains($0) }
        logger.log(level: isRoutine ? .debug : .warning, "adapter state changed", metadata: metadata)
        guard !adapter.machine.isListening, let address = adapter.address else { return }
        let adapters = present
        tell(sightings.adapterLost(address) { adapters.isLinked($0) })
    }

    // MARK: Demand

    package func follow(
        _ demand: @escaping @Sendable () -> RadioDemand, remedied: @escaping @Sendable (AdapterRemedy) -> Void,
        changed: @escaping @Sendable () -> Void
    ) {
        (self.remedied, self.changed) = (remedied, changed)
        demands.follow(demand)
        lookAtDemand()
    }

    package func demandChanged() { lookAtDemand() }

    package func sought() {
        demands.sought(until: loop.now + configuration.byHand)
        lookAtDemand()
    }

    func lookAtDemand() {
        let now = loop.now
        let demand = demands.current(at: now)
        for adapter in present {
            let new = demand(adapter.address)
            guard new != adapter.machine.demand else { continue }
            update(adapter.index, at: now) { $0.demandChanged(new, at: now) }
        }
    }

    // MARK: Time

    /// Sets the alarm. Call it after any change of a deadline.
    private func rearm() {
        var next = expiresAt
        if !kernel.isOpen {
            guard let time = kernel.openTime else { return }
            next = time
        }
        for adapter in present { if let wake = adapter.machine.nextWake { next = min(next, wake) } }
        alarm.set(to: next) { [weak self] in self?.assumeIsolated { $0.woke() } }
    }

    private func woke() {
        alarm.rang()
        guard report != nil else { return }
        let now = loop.now
        if let time = kernel.openTime, now >= time { return open() }
        kernel.expire()
        for adapter in present where adapter.machine.nextWake.map({ $0 <= now }) == true {
            // Update by index number, not position: the actions of one adapter may remove another from the list.
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

    private func tell(_ events: [RadioSightingEvent]) {
        guard let report else { return }
        for event in events { report(SightingEvent(event)) }
    }
}

package import Domain

/// Keeps one adapter searching for meters in continuous rounds, and recovers it from faults.
///
/// ```
///  ┌────────────┐ is as it should be ┌─────────┐ silent, faults ┌────────────┐
///  │ SETTING UP │───────────────────▶│ RUNNING │───────────────▶│ RECOVERING │
///  └────────────┘◀───────────────────└─────────┘◀───────────────└────────────┘
///     ▲      │       not powered       ▲     │ denied      remedy taken │
///     │      │ rfkill                  │     ▼                          │
///     │   ┌──────┐   ┌─────┐ grace  ┌───────────┐                       │
///     └───│ OFF  │   └─────┘        │ FORBIDDEN │                       │
///         └──────┘                  └───────────┘                       │
///     ▲─────────────────────────────────────────────────────────────────┘
/// ```
///
/// The machine performs no I/O and reads no clock. Each method takes one event and returns the actions; the driver
/// calls `woke` at `nextWake`. Every state leads back to RUNNING: even after the last remedy has failed, the search
/// continues, and the report asks a person to act.
package struct AdapterMachine: Sendable {
    package let timing: AdapterTiming
    package let linksMax: Int

    private(set) var phase = AdapterPhase.settingUp
    private(set) var isDenied = false
    private(set) var setup = AdapterSetup()
    private(set) var power: AdapterPower
    private(set) var commands = AdapterCommands()
    private(set) var search: AdapterSearch
    private(set) var slots: LinkSlots
    private(set) var ladder = RecoveryLadder()

    /// - Parameters:
    ///   - linksMax: assumed maximum number of links. Common controllers support at least five LE links besides
    ///     scanning.
    ///   - isShared: whether the chip shares, or may share, an antenna with Wi-Fi.
    package init(
        timing: AdapterTiming = AdapterTiming(), linksMax: Int = 5, block: RadioBlock = RadioBlock(),
        mode: SearchMode = .gentle, isShared: Bool = false
    ) {
        self.timing = timing
        self.linksMax = linksMax
        power = AdapterPower(block: block)
        search = AdapterSearch(mode: mode, isShared: isShared)
        slots = LinkSlots(linksMax: linksMax)
    }

    // MARK: The kernel's events

    package mutating func begin(at now: MonotonicTime) -> [AdapterAction] { step(at: now) }

    package mutating func answered(
        opcode: UInt16, _ status: ManagementStatus, parameters: [UInt8], at now: MonotonicTime
    ) -> [AdapterAction] {
        guard let command = commands.answered(opcode: opcode) else { return [] }
        guard status != .success else {
            succeeded(command, parameters, at: now)
            return finish(at: now)
        }
        return failed(command, status, at: now) + finish(at: now)
    }

    package mutating func settingsChanged(_ new: ControllerSettings, at now: MonotonicTime) -> [AdapterAction] {
        let wasPowered = setup.isPowered
        let actions = setup.changed(to: new, at: now)
        guard setup.info != nil else { return [] }
        if wasPowered, !setup.isPowered {
            switchedOff(at: now)
        } else if !wasPowered, setup.isPowered, case .off = phase {
            enter(.settingUp)
        }
        return actions + finish(at: now)
    }

    package mutating func blockChanged(_ new: RadioBlock, at now: MonotonicTime) -> [AdapterAction] {
        guard power.blockChanged(new) else { return [] }
        if new.isBlocked {
            if !setup.isPowered { enter(.off(until: nil)) }
        } else if case .off = phase {
            enter(.settingUp)
        }
        return finish(at: now)
    }

    package mutating func discovering(_ kinds: DiscoveryKinds, isOn: Bool, at now: MonotonicTime) -> [AdapterAction] {
        guard phase == .running else { return [] }
        if isOn {
            if search.begun(kinds, isOurs: commands.isStartingDiscovery, at: now) { endFault() }
        } else {
            switch search.ended(isStopped: commands.isStoppingDiscovery, at: now, timing) {
            case .tooSoon: commands.fail(at: now, timing)
            case .inTime: endFault()
            case nil: break
            }
        }
        return finish(at: now)
    }

    /// Handles a device report. Runs for each one, so it must be cheap.
    package mutating func heard(at now: MonotonicTime) -> [AdapterAction] {
        if search.hasDoubts, phase == .running, !commands.isWaiting {
            search.heardWithoutDiscovery(at: now, timing)
            endFault()
        }
        search.heard(at: now)
        return ladder.heard() ? [.noteRecovered] : []
    }

    package mutating func controllerFailed(code: UInt8, at now: MonotonicTime) -> [AdapterAction] {
        climb(.fault, "it reported hardware error 0x\(String(code, radix: 16))", at: now) + finish(at: now)
    }

    package mutating func deviceConnected(_ device: RadioAddress) { slots.connect(device) }
    package mutating func deviceDisconnected(_ device: RadioAddress) { slots.disconnect(device) }

    /// Pauses discovery for bluetoothd, which has just taken control of the adapter. The kernel's report that all
    /// devices were unblocked reveals this (`clear_blocked`, BlueZ src/adapter.c).
    ///
    /// bluetoothd does not detect a discovery that is already running, so it would fail another program's request to
    /// begin one. It does detect the end of our discovery.
    package mutating func managerCame(at now: MonotonicTime) -> [AdapterAction] {
        search.giveWay(at: now, timing)
        return finish(at: now)
    }

    // MARK: Events of this program

    package mutating func demandChanged(_ new: SearchDemand, at now: MonotonicTime) -> [AdapterAction] {
        search.demandChanged(new, at: now) ? finish(at: now) : []
    }

    /// Takes a slot for an attempt to make a link.
    package mutating func take(
        _ link: SlotKey, at now: MonotonicTime
    ) -> (refusal: SlotRefusal?, actions: [AdapterAction]) {
        if case .off = phase { return (SlotRefusal(isFull: false, message: power.trouble), []) }
        if let refusal = slots.begin(link, at: now) { return (refusal, []) }
        return (nil, finish(at: now))
    }

    package mutating func linkUp(_ link: SlotKey, at now: MonotonicTime) -> [AdapterAction] {
        slots.succeed(link) ? finish(at: now) : []
    }

    package mutating func giveBack(_ link: SlotKey, at now: MonotonicTime) -> [AdapterAction] {
        slots.giveBack(link)
        return finish(at: now)
    }

    package mutating func agentLeaves(at now: MonotonicTime) { setup.agentLeaves(at: now) }

    /// - Parameter last: time of the chip's last reset, if that was before this adapter appeared.
    package mutating func allowChipReset(_ reset: ChipReset?, last: MonotonicTime? = nil) {
        ladder.allowChipReset(reset, last: last)
    }

    /// Handles a chip reset's result. After a success the adapter disappears, and should reappear.
    package mutating func chipReset(isDone: Bool, at now: MonotonicTime) -> [AdapterAction] {
        guard isResettingChip else { return [] }
        guard !isDone else { return finish(at: now) }
        ladder.chipResetFailed()
        reread()
        return climb(ladder.cause, ladder.reason, at: now) + finish(at: now)
    }

    package mutating func count(recoveries: Int, discoveryTime: Duration) {
        ladder.add(before: recoveries)
        search.addTime(before: discoveryTime)
    }

    package mutating func woke(at now: MonotonicTime) -> [AdapterAction] {
        var actions: [AdapterAction] = []
        if let command = commands.expire(at: now, timing) {
            actions += climb(
                .fault, "it did not answer a command (0x\(String(command.opcode, radix: 16)))", at: now)
        }
        if let end = phaseEnd, now >= end { actions += phaseEnded(at: now) }
        actions += checkSilence(at: now)
        slots.expire(at: now, timing)
        return actions + finish(at: now)
    }

    package var nextWake: MonotonicTime? {
        var times = [slots.wakeTime(timing), search.shareTime(timing), phaseEnd, silenceEnd]
        if phase == .running { times.append(search.pauseTime(timing)) }
        if let time = commands.wakeTime(timing) {
            times.append(time)
        } else if phase == .running {
            times += [setup.bondableTime, search.commandTime(timing)]
        }
        return times.compactMap { $0 }.min()
    }

    private var phaseEnd: MonotonicTime? {
        phase.end(isBlocked: power.isBlocked, resetLimit: ladder.chipResetLimit(timing))
    }

    private var silenceEnd: MonotonicTime? { search.silence.flatMap { ladder.wakeTime($0, timing) } }

    // MARK: Steps

    private mutating func finish(at now: MonotonicTime) -> [AdapterAction] {
        search.update(hasAttempts: slots.hasAttempts, at: now, timing)
        return step(at: now)
    }

    /// Returns the next actions. All commands originate here: none while a command is outstanding or a pause lasts.
    private mutating func step(at now: MonotonicTime) -> [AdapterAction] {
        guard commands.mayContinue(at: now), let command = nextCommand(at: now) else { return [] }
        return commands.send(command, at: now)
    }

    private mutating func nextCommand(at now: MonotonicTime) -> ManagementCommand? {
        switch phase {
        case .settingUp: setUp(at: now)
        case .running: setup.bondableCommand(for: slots, at: now) ?? searchCommand(at: now)
        case .recovering(.switchingOff): .setPowered(false)
        case .recovering(.switchingOn): .setPowered(true)
        case .recovering(.resetting), .off, .forbidden: nil
        }
    }

    private mutating func setUp(at now: MonotonicTime) -> ManagementCommand? {
        if setup.info != nil, !setup.isPowered, power.isBlocked {
            enter(.off(until: nil))
            return nil
        }
        if let command = setup.command(for: slots, at: now) { return command }
        enter(.running)
        search.begin(at: now)
        return searchCommand(at: now)
    }

    private func searchCommand(at now: MonotonicTime) -> ManagementCommand? {
        search.command(with: setup.settings, beside: slots, at: now, timing)
    }

    private mutating func enter(_ new: AdapterPhase) {
        phase = new
        if new != .running { search.end() }
    }

    private mutating func reread() {
        enter(.settingUp)
        setup.forget()
    }

    private mutating func phaseEnded(at now: MonotonicTime) -> [AdapterAction] {
        guard isResettingChip else {
            enter(.settingUp)
            return []
        }
        reread()
        return climb(ladder.cause, ladder.reason, at: now)
    }

    private mutating func switchedOff(at now: MonotonicTime) {
        slots.switchedOff()
        switch phase {
        case .recovering, .forbidden: return
        case .settingUp, .running, .off: enter(.off(until: power.respectOff(at: now, timing)))
        }
    }

    // MARK: Answers

    private mutating func succeeded(_ command: ManagementCommand, _ parameters: [UInt8], at now: MonotonicTime) {
        guard setup.succeeded(command, parameters) else { return commands.fail(at: now, timing) }
        switch command {
        case .setPowered(let isOn): powered(isOn)
        case .startDiscovery(let kinds):
            isDenied = false
            search.clearDoubts()
            ladder.discoveryBegan()
            if phase == .running { search.started(kinds, at: now) }
            // The kernel's acceptance is no success until the discovery has begun (see `discovering`).
            return
        case .stopDiscovery: search.stopped()
        default: break
        }
        commands.succeed()
    }

    private mutating func powered(_ isOn: Bool) {
        switch phase {
        case .recovering(.switchingOff) where !isOn: enter(.recovering(.switchingOn))
        case .recovering(.switchingOn) where isOn:
            enter(.settingUp)
            setup.forgetInfo()
        default: break
        }
    }

    private mutating func failed(
        _ command: ManagementCommand, _ status: ManagementStatus, at now: MonotonicTime
    ) -> [AdapterAction] {
        switch (command, status) {
        case (_, .permissionDenied):
            isDenied = true
            enter(.forbidden(until: now + timing.forbiddenRetry))
        case (_, .rfkilled):
            // Record the block now, because rfkill's own report may arrive later or never.
            setup.blocked()
            enter(.off(until: power.respectOff(at: now, timing)))
        case (.startDiscovery(let kinds), .busy): return wasBusy(kinds, at: now)
        case (.stopDiscovery, _): search.stopped()
        case (.setLowEnergy, .notSupported), (.setLowEnergy, .rejected), (.setBondable, .notSupported),
            (.setBondable, .rejected):
            setup.refused(command)
        case (_, .notPowered), (_, .invalidIndex):
            reread()
            commands.fail(at: now, timing)
        default:
            if case .recovering = phase { enter(.settingUp) }
            commands.fail(at: now, timing)
            if commands.alwaysFail { return climb(.fault, "it failed: \(status.wordsOfAdapter)", at: now) }
        }
        return []
    }

    private mutating func wasBusy(_ kinds: DiscoveryKinds, at now: MonotonicTime) -> [AdapterAction] {
        isDenied = false
        guard phase == .running else { return [] }
        switch search.wasBusy(kinds, at: now, timing) {
        case .believed: endFault()
        case .doubted(let hold, let isFault):
            commands.hold(until: now + hold)
            if isFault {
                return climb(.fault, "it says that it is busy, and no program's discovery is to be seen", at: now)
            }
        }
        return []
    }

    /// Ends a fault once the adapter answers, even before it reports a device.
    private mutating func endFault() {
        commands.succeed()
        ladder.endFault()
    }

    // MARK: Recovery

    private mutating func checkSilence(at now: MonotonicTime) -> [AdapterAction] {
        guard let silence = search.silence, let reason = ladder.reason(silence, at: now, timing) else { return [] }
        return climb(.silence, reason, at: now)
    }

    private mutating func climb(
        _ cause: RecoveryLadder.Cause, _ reason: String, at now: MonotonicTime
    ) -> [AdapterAction] {
        switch phase {
        case .off, .forbidden: return []
        case .settingUp, .running, .recovering: break
        }
        switch ladder.climb(cause, because: reason, over: slots, at: now, timing) {
        case .remedy(let remedy):
            search.endSilence(at: now)
            return [.note(remedy, because: reason)] + begin(remedy, at: now)
        case .exhausted:
            reread()
            commands.fail(at: now, timing)
        case .tooSoon:
            if case .recovering = phase { reread() }
        }
        return []
    }

    private mutating func begin(_ remedy: Remedy, at now: MonotonicTime) -> [AdapterAction] {
        switch remedy {
        case .restartDiscovery: search.restart(at: now, timing)
        case .cyclePower:
            enter(.recovering(setup.isPowered ? .switchingOff : .switchingOn))
            commands.abandon()
        case .resetUSB, .rebindSerial:
            enter(.recovering(.resetting(since: now)))
            commands.abandon()
        }
        return remedy.chipReset.map { [.resetChip($0)] } ?? []
    }
}

import MeterModel

/// Setting up, and discovery in rounds.
extension AdapterMachine {
    /// Does what follows from the present state. Called after each event.
    mutating func finish(at now: MonotonicTime) -> [AdapterAction] {
        keepQuiet(at: now)
        keepAir(at: now)
        return step(at: now)
    }

    /// The one source of commands: none while another is outstanding, or while a pause lasts.
    mutating func step(at now: MonotonicTime) -> [AdapterAction] {
        guard outstanding == nil else { return [] }
        if let holdUntil, now < holdUntil { return [] }
        holdUntil = nil
        switch phase {
        case .settingUp: return setUp(at: now)
        case .running(let search):
            let pairing = keepBondable(at: now)
            return pairing.isEmpty ? keepSearching(search, at: now) : pairing
        case .recovering(.switchingOff): return send(.setPowered(false), at: now)
        case .recovering(.switchingOn): return send(.setPowered(true), at: now)
        case .recovering(.resetting), .off, .forbidden: return []
        }
    }

    mutating func send(_ command: ManagementCommand, at now: MonotonicTime) -> [AdapterAction] {
        outstanding = Outstanding(command: command, since: now)
        return [.send(command)]
    }

    func limit(of command: ManagementCommand) -> Duration {
        if case .setPowered = command { timing.powerLimit } else { timing.answerLimit }
    }

    /// Changes only what keeps meters from being found: the rest is up to the system's Bluetooth manager.
    private mutating func setUp(at now: MonotonicTime) -> [AdapterAction] {
        guard let info else { return send(.readInfo, at: now) }
        if !settings.contains(.powered) {
            guard !block.isBlocked else {
                phase = .off(until: nil)
                return []
            }
            return send(.setPowered(true), at: now)
        }
        if info.supported.contains(.lowEnergy), !settings.contains(.lowEnergy), mayAsk(.setLowEnergy(true)) {
            return send(.setLowEnergy(true), at: now)
        }
        let pairing = keepBondable(at: now)
        if !pairing.isEmpty { return pairing }
        phase = .running(.none)
        silentSince = now
        return keepSearching(.none, at: now)
    }

    func mayAsk(_ command: ManagementCommand) -> Bool { !refused.contains(command.opcode) }

    // MARK: Discovery

    private mutating func keepSearching(_ search: Search, at now: MonotonicTime) -> [AdapterAction] {
        switch search {
        case .none:
            guard !isResting, let nextRound, now >= nextRound else { return [] }
            return send(.startDiscovery(nextKinds(at: now)), at: now)
        case .running(let kinds, let since, let isOurs):
            if isOurs, isResting || givesWay(at: now) || now >= since + roundLimit(kinds) {
                return send(.stopDiscovery(kinds), at: now)
            }
            if !isOurs, now >= since + timing.busyRetry, !isResting, air.share != .none {
                return send(.startDiscovery(nextKinds(at: now)), at: now)
            }
            return []
        }
    }

    /// What the next round listens to. Classic only from time to time: it keeps the adapter from LE meanwhile.
    private func nextKinds(at now: MonotonicTime) -> DiscoveryKinds {
        let hasClassic = settings.contains(.classic)
        guard settings.contains(.lowEnergy) else { return hasClassic ? .classic : .lowEnergy }
        guard hasClassic, inquires else { return .lowEnergy }
        let interval = hasLinks ? timing.inquiryIntervalLinked : timing.inquiryInterval
        guard let lastInquiry, now < lastInquiry + interval else { return .interleaved }
        return .lowEnergy
    }

    /// Whether there are links of this or another program, which an inquiry or a remedy would disturb.
    var hasLinks: Bool { slots.hasLinks || !connected.isEmpty }

    mutating func begun(_ kinds: DiscoveryKinds, _ search: Search, at now: MonotonicTime) {
        if kinds.contains(.classic) { lastInquiry = now }
        guard case .none = search else { return }
        let isOurs =
            if case .startDiscovery? = outstanding?.command { true } else { false }
        phase = .running(.running(kinds, since: now, isOurs: isOurs))
        if !isOurs { believeBusy() }
    }

    mutating func ended(_ search: Search, at now: MonotonicTime) {
        guard case .running(_, let since, let isOurs) = search else { return }
        phase = .running(.none)
        let isStopped = if case .stopDiscovery? = outstanding?.command { true } else { false }
        guard isOurs, !isStopped else { return }
        // Earlier than the kernel ends a discovery by itself: another program may have ended it to begin its own.
        if now - since < timing.roundKernel { air.givesWayUntil = now + timing.rest }
        if now - since < timing.roundMin {
            failures += 1
            hold(at: now)
        } else {
            failures = 0
            // The adapter works; whether it hears anything is a different question.
            if ladder.cause == .fault { ladder = Ladder() }
        }
    }

    // MARK: Answers

    mutating func succeeded(_ command: ManagementCommand, _ parameters: [UInt8], at now: MonotonicTime) {
        switch command {
        case .readInfo:
            guard let info = try? ControllerInfo(parameters) else {
                // Not a valid answer, so the command is repeated after a while.
                return retryLater(at: now)
            }
            self.info = info
            settings = info.current
        case .setPowered(let isOn):
            note(.powered, isOn)
            if case .recovering(let recovery) = phase { powered(isOn, recovery) }
        case .setLowEnergy: note(.lowEnergy, true)
        case .setBondable: note(.bondable, true)
        case .startDiscovery(let kinds):
            isDenied = false
            air.doubts = 0
            ladder.unansweredSince = nil
            guard case .running(let search) = phase else { break }
            if kinds.contains(.classic) { lastInquiry = now }
            // The event may have come first.
            if case .running(_, _, isOurs: true) = search { break }
            phase = .running(.running(kinds, since: now, isOurs: true))
        case .stopDiscovery:
            if case .running = phase { phase = .running(.none) }
        default: break
        }
        // A discovery that has only begun proves nothing yet: see `ended`.
        if case .startDiscovery = command {} else { failures = 0 }
    }

    private mutating func note(_ setting: ControllerSettings, _ isOn: Bool) {
        if isOn { settings.insert(setting) } else { settings.remove(setting) }
    }

    mutating func failed(
        _ command: ManagementCommand, _ status: ManagementStatus, at now: MonotonicTime
    ) -> [AdapterAction] {
        switch (command, status) {
        case (_, .permissionDenied):
            isDenied = true
            phase = .forbidden(until: now + timing.forbiddenRetry)
        case (_, .rfkilled):
            // rfkill's own report may still be on its way, or may not be available.
            settings.remove(.powered)
            respectOff(at: now)
        case (.startDiscovery(let kinds), .busy):
            return wasBusy(kinds, at: now)
        case (.stopDiscovery, _):
            // It has ended by itself in the meantime.
            if case .running = phase { phase = .running(.none) }
        case (.setLowEnergy, .notSupported), (.setLowEnergy, .rejected), (.setBondable, .notSupported),
            (.setBondable, .rejected):
            refused.insert(command.opcode)
        case (_, .notPowered), (_, .invalidIndex):
            reread(at: now)
            retryLater(at: now)
        default:
            if case .recovering = phase { phase = .settingUp }
            retryLater(at: now)
            // A command may fail now and then. One that always fails needs a remedy.
            if failures % Self.failuresMax == 0 { return climb(.fault, "it failed: \(status.wordsOfAdapter)", at: now) }
        }
        return []
    }

    private static let failuresMax = 4

    /// Forgets everything about the adapter except that it is there.
    mutating func reread(at now: MonotonicTime) {
        phase = .settingUp
        info = nil
        settings = []
        silentSince = nil
    }

    private mutating func retryLater(at now: MonotonicTime) {
        failures += 1
        hold(at: now)
    }

    mutating func hold(at now: MonotonicTime) {
        let doublings = min(max(failures - 1, 0), 10)
        holdUntil = now + min(timing.retryMax, timing.retryBase * (1 << doublings))
    }

    /// Somebody else or rfkill switched it off. That is respected, but not for ever: a program that ends may switch off
    /// what it used.
    mutating func switchedOff(at now: MonotonicTime) {
        slots.expireAll()
        connected = []
        silentSince = nil
        switch phase {
        case .recovering, .forbidden: return
        case .settingUp, .running, .off: respectOff(at: now)
        }
    }

    private mutating func respectOff(at now: MonotonicTime) {
        guard !block.isBlocked else {
            phase = .off(until: nil)
            return
        }
        var grace = timing.offGrace
        if let lastOff, now < lastOff.at + timing.offGraceMax { grace = min(timing.offGraceMax, lastOff.grace * 2) }
        lastOff = (grace, now)
        phase = .off(until: now + grace)
    }
}

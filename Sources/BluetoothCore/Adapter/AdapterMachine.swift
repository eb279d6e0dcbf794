package import MeterModel

/// Keeps one adapter searching for meters, for ever and in rounds, and repairs it when it does not.
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
/// The machine performs no I/O and reads no clock. Each method names something that happened and returns what to do;
/// `nextWake` says when to call `woke`. At most one command is outstanding at a time. Every state has a way back to
/// RUNNING: an adapter for which every remedy failed goes on searching, and reports what a person must do.
///
/// A machine lives as long as the kernel's index for the adapter; if that is plugged in again, it gets a new one.
package struct AdapterMachine: Sendable {
    package let timing: AdapterTiming
    package let linksMax: Int
    /// What can reset the chip, if anything is known that this program may use.
    package var chipReset: ChipReset?
    /// The earliest time of the next chip reset, since the last was a short while ago.
    package var chipResetNotBefore: MonotonicTime?
    /// Nil until the adapter has been read.
    package internal(set) var info: ControllerInfo?
    /// Number of recovery steps taken so far.
    package internal(set) var recoveries = 0

    var phase = Phase.settingUp
    var settings: ControllerSettings = []
    var block = RadioBlock()
    var outstanding: Outstanding?
    /// The earliest time of the next command.
    var holdUntil: MonotonicTime?
    /// Consecutive failed commands.
    var failures = 0
    /// Whether the last attempt to search was denied.
    var isDenied = false
    /// Opcodes of settings that the adapter or the kernel refused to change; they are not requested again.
    var refused: Set<UInt16> = []
    var ladder = Ladder()
    /// Since when discovery has run without hearing a device. Nil while it is not meant to run. When a discovery
    /// begins, it moves forward by the time in which none was running.
    var silentSince: MonotonicTime?
    var hasEverHeard = false
    var lastInquiry: MonotonicTime?
    /// How long the adapter's last switching off was respected, and when that was.
    var lastOff: (grace: Duration, at: MonotonicTime)?
    var slots = Slots()
    /// Whether attempts are under way, and discovery rests for them.
    var quiet = Quiet.none
    /// Links of this and other programs, as reported by the kernel.
    var connected: Set<RadioAddress> = []
    /// Rounds and rests.
    var air = Air()
    var bondable = Bondable()

    struct Outstanding: Hashable, Sendable {
        var command: ManagementCommand
        var since: MonotonicTime
    }

    enum Phase: Hashable, Sendable {
        case settingUp
        case running(Search)
        case recovering(Recovery)
        /// Off, and not by us. Without a time, until rfkill releases it.
        case off(until: MonotonicTime?)
        case forbidden(until: MonotonicTime)
    }

    enum Quiet: Hashable, Sendable {
        /// No attempt is under way.
        case none
        case resting(since: MonotonicTime)
        /// Attempts have gone on for long: other meters are listened for in between.
        case breathing(since: MonotonicTime)
    }

    enum Search: Hashable, Sendable {
        /// No discovery is known to be running.
        case none
        case running(DiscoveryKinds, since: MonotonicTime, isOurs: Bool)
    }

    enum Recovery: Hashable, Sendable {
        case switchingOff
        case switchingOn
        case resetting(since: MonotonicTime)
    }

    /// - Parameters:
    ///   - linksMax: number of links the adapter is assumed to support. Controllers differ; the common ones support at
    ///     least five LE links besides scanning.
    ///   - block: what rfkill has said so far.
    ///   - mode: how much airtime the search may use.
    ///   - isShared: whether the chip uses the same antenna for Wi-Fi, or may do so.
    package init(
        timing: AdapterTiming = AdapterTiming(), linksMax: Int = 5, block: RadioBlock = RadioBlock(),
        mode: SearchMode = .gentle, isShared: Bool = false
    ) {
        self.timing = timing
        self.linksMax = linksMax
        self.block = block
        air.mode = mode
        air.isShared = isShared
    }

    // MARK: Events

    /// The adapter is there.
    package mutating func begin(at now: MonotonicTime) -> [AdapterAction] {
        step(at: now)
    }

    /// The kernel answered a command.
    package mutating func answered(
        opcode: UInt16, _ status: ManagementStatus, parameters: [UInt8], at now: MonotonicTime
    ) -> [AdapterAction] {
        // An answer that nothing waits for any more is ignored.
        guard let outstanding, outstanding.command.opcode == opcode else { return [] }
        self.outstanding = nil
        guard status != .success else {
            succeeded(outstanding.command, parameters, at: now)
            return finish(at: now)
        }
        return failed(outstanding.command, status, at: now) + finish(at: now)
    }

    /// Settings changed, whoever changed them.
    package mutating func settingsChanged(_ new: ControllerSettings, at now: MonotonicTime) -> [AdapterAction] {
        let before = settings
        let wasPowered = before.contains(.powered)
        settings = new
        guard info != nil else { return [] }
        let notes = before.contains(.bondable) && !new.contains(.bondable) ? bondableLost(at: now) : []
        if wasPowered, !new.contains(.powered) {
            switchedOff(at: now)
        } else if !wasPowered, new.contains(.powered), case .off = phase {
            phase = .settingUp
        }
        return notes + finish(at: now)
    }

    /// rfkill's state for this adapter has changed.
    package mutating func blockChanged(_ new: RadioBlock, at now: MonotonicTime) -> [AdapterAction] {
        guard new != block else { return [] }
        block = new
        if new.isBlocked {
            if !settings.contains(.powered) { phase = .off(until: nil) }
        } else if case .off = phase {
            phase = .settingUp
        }
        return finish(at: now)
    }

    /// A discovery of ours or another program's began or ended.
    package mutating func discovering(_ kinds: DiscoveryKinds, isOn: Bool, at now: MonotonicTime) -> [AdapterAction] {
        guard case .running(let search) = phase else { return [] }
        if isOn {
            begun(kinds, search, at: now)
        } else {
            ended(search, at: now)
        }
        return finish(at: now)
    }

    /// A device of any kind was heard. Called for each report, so it must be cheap.
    package mutating func heard(at now: MonotonicTime) -> [AdapterAction] {
        hasEverHeard = true
        heardWithoutDiscovery(at: now)
        if silentSince != nil { silentSince = now }
        guard ladder.isClimbed else { return [] }
        ladder = Ladder()
        return [.noteRecovered]
    }

    /// The adapter itself reported an error (Controller Error).
    package mutating func controllerFailed(code: UInt8, at now: MonotonicTime) -> [AdapterAction] {
        climb(.fault, "it reported hardware error 0x\(String(code, radix: 16))", at: now) + finish(at: now)
    }

    package mutating func deviceConnected(_ device: RadioAddress) {
        // No adapter has more links than this, so further ones are not believed.
        if connected.count < 64 { connected.insert(device) }
    }

    package mutating func deviceDisconnected(_ device: RadioAddress) {
        connected.remove(device)
    }

    /// The outcome of the reset requested by `resetChip`. A successful one makes the adapter disappear and come back,
    /// or not.
    package mutating func chipReset(isDone: Bool, at now: MonotonicTime) -> [AdapterAction] {
        guard case .recovering(.resetting) = phase else { return [] }
        guard !isDone else { return finish(at: now) }
        chipReset = nil
        reread(at: now)
        return climb(ladder.cause, ladder.reason, at: now) + finish(at: now)
    }

    /// Time has passed. Harmless at any moment.
    package mutating func woke(at now: MonotonicTime) -> [AdapterAction] {
        var actions: [AdapterAction] = []
        if let outstanding, now >= outstanding.since + limit(of: outstanding.command) {
            self.outstanding = nil
            actions += unanswered(outstanding.command, at: now)
        }
        switch phase {
        case .off(let until?) where now >= until && !block.isBlocked: phase = .settingUp
        case .forbidden(let until) where now >= until: phase = .settingUp
        case .recovering(.resetting(let since)) where now >= since + resetLimit:
            reread(at: now)
            actions += climb(ladder.cause, ladder.reason, at: now)
        case .running where air.listening != nil: actions += silenceChecked(at: now)
        case .settingUp, .running, .recovering, .off, .forbidden: break
        }
        expireAttempts(at: now)
        return actions + finish(at: now)
    }
}

// MARK: Report

extension AdapterMachine {
    package var state: AdapterState {
        switch phase {
        case .off: return .blocked
        case .forbidden: return .forbidden
        case .settingUp where isDenied, .running where isDenied: return .forbidden
        case .recovering: return .recovering
        case .settingUp: return ladder.hasFailed ? .failed : ladder.taken == nil ? .starting : .recovering
        case .running(let search):
            if ladder.hasFailed { return .failed }
            if ladder.taken != nil { return .recovering }
            if case .running = search { return .searching }
            if case .startDiscovery? = outstanding?.command { return .searching }
            return .idle
        }
    }

    /// What is wrong and what to do about it, if anything is.
    package var trouble: String? {
        switch phase {
        case .off: return block.isBlocked ? blockText : offText
        case .forbidden: return Self.forbiddenText
        case .settingUp where isDenied, .running where isDenied: return Self.forbiddenText
        case .settingUp, .running, .recovering:
            return ladder.hasFailed ? failedText : ladder.taken == nil ? nil : ladder.words
        }
    }

    /// Whether devices can be heard at all, so that an unheard one must have gone.
    package var isListening: Bool {
        switch phase {
        case .running, .settingUp, .recovering: true
        case .off, .forbidden: false
        }
    }

    /// Number of links that are open or opening.
    package var linkCount: Int { slots.count }

    /// How long the answer to a command may take.
    package func patience(for command: ManagementCommand) -> Duration { limit(of: command) }

    /// Adds recovery steps taken before the adapter was plugged in again.
    package mutating func countRecoveries(before: Int) { recoveries += before }

    /// The last commands to the kernel, which leave the adapter quiet when nobody looks after it any more.
    package var farewell: [ManagementCommand] {
        guard case .running(.running(let kinds, _, isOurs: true)) = phase else { return [] }
        return [.stopDiscovery(kinds)]
    }

    /// When `woke` has something to do next. Nil while only an event can change anything.
    package var nextWake: MonotonicTime? {
        var times: [MonotonicTime] = slots.attempts.values.map { $0 + timing.attemptMax }
        if let outstanding {
            times.append(outstanding.since + limit(of: outstanding.command))
        } else if let holdUntil {
            times.append(holdUntil)
        } else {
            if let time = bondableTime { times.append(time) }
            if case .running(let search) = phase, let time = searchTime(search) { times.append(time) }
        }
        if let shareTime { times.append(shareTime) }
        switch phase {
        case .recovering(.resetting(let since)): times.append(since + resetLimit)
        case .off(let until?) where !block.isBlocked: times.append(until)
        case .forbidden(let until): times.append(until)
        case .running: if let time = quietTime ?? (air.listening == nil ? nil : silenceTime) { times.append(time) }
        case .settingUp, .recovering, .off: break
        }
        return times.min()
    }
}

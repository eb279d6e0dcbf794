import MeterModel

/// The recovery ladder.
extension AdapterMachine {
    /// How far up the ladder the adapter is.
    struct Ladder: Hashable, Sendable {
        /// The last step taken, if any.
        var taken: Remedy?
        /// Whether all steps failed.
        var hasFailed = false
        var cause = Cause.silence
        /// The reason for people to read.
        var reason = ""
        /// How often all steps have failed.
        var rounds = 0
        /// The earliest time of the next step.
        var notBefore: MonotonicTime?
        /// When commands began to fail, if no discovery began and no device was heard since.
        var unansweredSince: MonotonicTime?

        var isClimbed: Bool { taken != nil || hasFailed }

        var words: String { "It is being looked after as \(reason)." }
    }

    enum Cause: Hashable, Sendable {
        /// No device of any kind is being heard.
        case silence
        /// The adapter does not answer, or reports an error.
        case fault
    }

    /// How long the silence may last before the next step.
    var silenceLimit: Duration {
        let limit = hasEverHeard ? timing.silenceLimit : timing.silenceLimitNever
        guard !ladder.hasFailed else {
            return min(timing.failedRetryMax, timing.failedRetry * (1 << min(max(ladder.rounds - 1, 0), 6)))
        }
        return limit * (1 << (ladder.taken?.step ?? 0))
    }

    /// When the silence has lasted long enough for a remedy.
    var silenceTime: MonotonicTime? {
        guard let silentSince else { return nil }
        let time = silentSince + silenceLimit
        return max(time, ladder.notBefore ?? time)
    }

    mutating func silenceChecked(at now: MonotonicTime) -> [AdapterAction] {
        guard quiet == .none, let silenceTime, now >= silenceTime else { return [] }
        let minutes = max(1, silenceLimit.milliseconds / 60_000)
        return climb(.silence, "it has heard no device of any kind for \(minutes) min", at: now)
    }

    mutating func unanswered(_ command: ManagementCommand, at now: MonotonicTime) -> [AdapterAction] {
        failures += 1
        hold(at: now)
        return climb(.fault, "it did not answer a command (0x\(String(command.opcode, radix: 16)))", at: now)
    }

    /// Takes the next step of the ladder.
    mutating func climb(_ cause: Cause, _ reason: String, at now: MonotonicTime) -> [AdapterAction] {
        switch phase {
        case .off, .forbidden: return []
        case .settingUp, .running, .recovering: break
        }
        if let notBefore = ladder.notBefore, now < notBefore {
            // Continue as before, as far as possible.
            if case .recovering = phase { reread(at: now) }
            return []
        }
        ladder.cause = cause
        ladder.reason = reason
        if cause == .fault, ladder.unansweredSince == nil { ladder.unansweredSince = now }
        silentSince = silentSince == nil ? nil : now
        guard let remedy = nextRemedy(at: now) else {
            ladder.hasFailed = true
            ladder.rounds += 1
            // Start from the first step the next time.
            ladder.taken = nil
            ladder.notBefore = now + silenceLimit
            reread(at: now)
            failures += 1
            hold(at: now)
            return []
        }
        ladder.taken = remedy
        recoveries += 1
        return [.note(remedy, because: reason)] + begin(remedy, at: now)
    }

    /// Power and USB are left alone while any link is up: it is worth more than the search for others.
    private func nextRemedy(at now: MonotonicTime) -> Remedy? {
        guard let taken = ladder.taken, !sparesLinks(at: now) else { return .restartDiscovery }
        switch taken {
        case .restartDiscovery: return .cyclePower
        case .cyclePower:
            let isTooSoon = chipResetNotBefore.map { now < $0 } ?? false
            return isTooSoon ? nil : chipReset?.remedy
        case .resetUSB, .rebindSerial: return nil
        }
    }

    /// Our own open links count as working: their sessions end silent ones. A device leaves the kernel's list when the
    /// chip says so, and a hung chip says nothing: after a while without an answer that list proves nothing.
    private func sparesLinks(at now: MonotonicTime) -> Bool {
        if slots.hasLinks { return true }
        guard ladder.cause == .fault, let since = ladder.unansweredSince else { return hasLinks }
        return hasLinks && now < since + timing.unansweredBelieved
    }

    /// How long a reset under way may take.
    var resetLimit: Duration { chipReset?.limit(timing) ?? timing.resetLimit }

    /// Whether the chip is being reset, so that the adapter is expected to disappear.
    package var isResettingChip: Bool {
        if case .recovering(.resetting) = phase { true } else { false }
    }

    private mutating func begin(_ remedy: Remedy, at now: MonotonicTime) -> [AdapterAction] {
        switch remedy {
        case .restartDiscovery:
            if case .running(.running(let kinds, _, _)) = phase {
                // Makes it end at once.
                phase = .running(.running(kinds, since: now - timing.roundMax, isOurs: true))
            }
            return []
        case .cyclePower:
            // The outstanding command may be what hangs, so it is abandoned.
            phase = .recovering(settings.contains(.powered) ? .switchingOff : .switchingOn)
            outstanding = nil
            return []
        case .resetUSB: return resetChip(.usbPort, at: now)
        case .rebindSerial: return resetChip(.serialDevice, at: now)
        }
    }

    private mutating func resetChip(_ reset: ChipReset, at now: MonotonicTime) -> [AdapterAction] {
        phase = .recovering(.resetting(since: now))
        outstanding = nil
        chipResetNotBefore = now + ChipReset.intervalMin
        return [.resetChip(reset)]
    }

    mutating func powered(_ isOn: Bool, _ recovery: Recovery) {
        switch recovery {
        case .switchingOff where !isOn: phase = .recovering(.switchingOn)
        case .switchingOn where isOn:
            phase = .settingUp
            info = nil
        case .switchingOff, .switchingOn, .resetting: break
        }
    }

    // MARK: Words

    static let forbiddenText =
        "This program may not look for meters over Bluetooth: it needs CAP_NET_ADMIN. Grant it with"
        + " AmbientCapabilities=CAP_NET_ADMIN in its systemd unit, or with"
        + " 'sudo setcap cap_net_admin+ep' on the program."

    var blockText: String {
        block.isHard
            ? "It is blocked by a switch or by the firmware (rfkill, hard). Switch it on there."
            : "It is blocked (rfkill, soft). Unblock it with 'rfkill unblock bluetooth'."
    }

    var offText: String {
        "Another program or a person switched it off. Switch it on with 'bluetoothctl power on'; after a while it is"
            + " switched on again anyway. To keep it off, block it with 'rfkill block bluetooth'."
    }

    var failedText: String {
        let remedy =
            switch chipReset {
            case .usbPort: "Unplug it and plug it in again"
            case .serialDevice: "Restart the machine; where that does not help, take its power away for a while"
            case nil: "Unplug it and plug it in again where that can be done, otherwise restart the machine"
            }
        let doubt =
            ladder.cause == .silence && !hasEverHeard
            ? " If no Bluetooth device is near, nothing is wrong with it." : ""
        return "Everything was tried, and still \(ladder.reason). \(remedy).\(doubt)"
    }
}

import Domain

/// The recovery ladder: remedies for an adapter, tried one after another.
struct RecoveryLadder: Sendable {
    enum Cause: Hashable, Sendable {
        case silence
        case fault
    }

    enum Step: Hashable, Sendable {
        case remedy(Remedy)
        /// All steps failed. The next recovery starts from the first step.
        case exhausted
        /// All steps failed a short while ago: wait.
        case tooSoon
    }

    private(set) var recoveries = 0
    private var chip = ChipResetAccess()
    private var climbed = Climb()

    private struct Climb: Sendable {
        var taken: Remedy?
        var hasFailed = false
        var cause = Cause.silence
        var reason = ""
        var rounds = 0
        var notBefore: MonotonicTime?
        /// Time of the first failed command; nil once the adapter begins a discovery or reports a device.
        var unansweredSince: MonotonicTime?
    }

    var cause: Cause { climbed.cause }
    var reason: String { climbed.reason }

    var state: AdapterState? { climbed.hasFailed ? .failed : climbed.taken == nil ? nil : .recovering }

    mutating func add(before: Int) { recoveries += before }

    // MARK: Up

    /// Chooses the next step of the ladder.
    ///
    /// - Parameter slots: links that a remedy would end.
    mutating func climb(
        _ cause: Cause, because reason: String, over slots: LinkSlots, at now: MonotonicTime, _ timing: AdapterTiming
    ) -> Step {
        if let notBefore = climbed.notBefore, now < notBefore { return .tooSoon }
        climbed.cause = cause
        climbed.reason = reason
        if cause == .fault, climbed.unansweredSince == nil { climbed.unansweredSince = now }
        guard let remedy = spares(slots, at: now, timing) ? .restartDiscovery : nextRemedy(at: now) else {
            climbed.hasFailed = true
            climbed.rounds += 1
            climbed.taken = nil
            climbed.notBefore = now + failedRetry(timing)
            return .exhausted
        }
        climbed.taken = remedy
        if remedy.chipReset != nil { chip.begin(at: now) }
        recoveries += 1
        return .remedy(remedy)
    }

    private func nextRemedy(at now: MonotonicTime) -> Remedy? {
        switch climbed.taken {
        case nil: .restartDiscovery
        case .restartDiscovery: .cyclePower
        case .cyclePower: chip.remedy(at: now)
        case .resetUSB, .rebindSerial: nil
        }
    }

    /// Returns whether to skip the steps that would end a working link, which is worth more than the search for other
    /// meters.
    ///
    /// Our own open links count as working, because their sessions close silent links. A hung chip does not report the
    /// end of a link, so after `unansweredBelieved` without an answer the kernel's list of links is ignored.
    private func spares(_ slots: LinkSlots, at now: MonotonicTime, _ timing: AdapterTiming) -> Bool {
        if slots.hasOwnLinks { return true }
        guard climbed.cause == .fault, let since = climbed.unansweredSince else { return slots.hasLinks }
        return slots.hasLinks && now < since + timing.unansweredBelieved
    }

    // MARK: The last step

    var chipReset: ChipReset? { chip.reset }

    mutating func allowChipReset(_ reset: ChipReset?, last: MonotonicTime?) { chip.allow(reset, last: last) }

    mutating func chipResetFailed() { chip.fail() }

    func chipResetLimit(_ timing: AdapterTiming) -> Duration { chip.limit(timing) }

    // MARK: Down

    mutating func heard() -> Bool {
        guard state != nil else { return false }
        climbed = Climb()
        return true
    }

    mutating func discoveryBegan() { climbed.unansweredSince = nil }

    mutating func endFault() { if climbed.cause == .fault { climbed = Climb() } }

    // MARK: Silence

    func wakeTime(_ silence: SilenceWatch, _ timing: AdapterTiming) -> MonotonicTime? {
        guard let since = silence.since else { return nil }
        let time = since + limit(silence, timing)
        return max(time, climbed.notBefore ?? time)
    }

    func reason(_ silence: SilenceWatch, at now: MonotonicTime, _ timing: AdapterTiming) -> String? {
        guard let time = wakeTime(silence, timing), now >= time else { return nil }
        let minutes = max(1, limit(silence, timing).milliseconds / 60_000)
        return "it has heard no device of any kind for \(minutes) min"
    }

    private func limit(_ silence: SilenceWatch, _ timing: AdapterTiming) -> Duration {
        guard !climbed.hasFailed else { return failedRetry(timing) }
        let limit = silence.hasEverHeard ? timing.silenceLimit : timing.silenceLimitNever
        return limit * (1 << (climbed.taken?.step ?? 0))
    }

    private func failedRetry(_ timing: AdapterTiming) -> Duration {
        min(timing.failedRetryMax, timing.failedRetry * (1 << min(max(climbed.rounds - 1, 0), 6)))
    }

    // MARK: Words

    func trouble(hasEverHeard: Bool) -> String? {
        guard climbed.hasFailed else {
            return climbed.taken == nil ? nil : "It is being looked after as \(climbed.reason)."
        }
        let remedy =
            switch chip.reset {
            case .usbPort: "Unplug it and plug it in again"
            case .serialDevice: "Restart the machine; where that does not help, take its power away for a while"
            case nil: "Unplug it and plug it in again where that can be done, otherwise restart the machine"
            }
        let doubt =
            climbed.cause == .silence && !hasEverHeard
            ? " If no Bluetooth device is near, nothing is wrong with it." : ""
        return "Everything was tried, and still \(climbed.reason). \(remedy).\(doubt)"
    }
}

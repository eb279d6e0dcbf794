import Domain

/// How far up the recovery ladder an adapter is, and which step comes next.
struct RecoveryLadder: Sendable {
    enum Cause: Hashable, Sendable {
        /// No device of any kind is being heard.
        case silence
        /// The adapter does not answer, or reports an error.
        case fault
    }

    enum Step: Hashable, Sendable {
        case remedy(Remedy)
        /// All steps have failed. The next time it starts from the first.
        case exhausted
        /// Nothing is done yet: all steps failed a short while ago.
        case tooSoon
    }

    /// Number of steps taken so far.
    private(set) var recoveries = 0
    private var chip = ChipResetAccess()
    private var climbed = Climb()

    /// What is over once the adapter works again.
    private struct Climb: Sendable {
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
    }

    /// Why it was climbed last.
    var cause: Cause { climbed.cause }
    var reason: String { climbed.reason }

    /// How an adapter on the ladder looks to people. Nil on the ground.
    var state: AdapterState? { climbed.hasFailed ? .failed : climbed.taken == nil ? nil : .recovering }

    /// Adds steps taken before the adapter was plugged in again.
    mutating func add(before: Int) { recoveries += before }

    // MARK: Up

    /// Takes the next step.
    ///
    /// - Parameter slots: the links that a remedy would end.
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

    /// Whether power and USB are left alone: any link that is up is worth more than the search for others.
    ///
    /// Our own open links count as working: their sessions end silent ones. A device leaves the kernel's list when the
    /// chip says so, and a hung chip says nothing: after a while without an answer that list proves nothing.
    private func spares(_ slots: LinkSlots, at now: MonotonicTime, _ timing: AdapterTiming) -> Bool {
        if slots.hasOwnLinks { return true }
        guard climbed.cause == .fault, let since = climbed.unansweredSince else { return slots.hasLinks }
        return slots.hasLinks && now < since + timing.unansweredBelieved
    }

    // MARK: The last step

    /// What can reset the chip, if anything is known that this program may use.
    var chipReset: ChipReset? { chip.reset }

    mutating func allowChipReset(_ reset: ChipReset?, last: MonotonicTime?) { chip.allow(reset, last: last) }

    /// It cannot be used after all.
    mutating func chipResetFailed() { chip.fail() }

    /// How long a reset under way may take.
    func chipResetLimit(_ timing: AdapterTiming) -> Duration { chip.limit(timing) }

    // MARK: Down

    /// A device was heard: everything works.
    ///
    /// - Returns: whether there was trouble.
    mutating func heard() -> Bool {
        guard state != nil else { return false }
        climbed = Climb()
        return true
    }

    /// A discovery began, which proves nothing yet but that the adapter answers.
    mutating func discoveryBegan() { climbed.unansweredSince = nil }

    /// The adapter does what it is told. Whether it hears anything is a different question.
    mutating func endFault() { if climbed.cause == .fault { climbed = Climb() } }

    // MARK: Silence

    /// When a silence has lasted long enough for the next step.
    func wakeTime(_ silence: SilenceWatch, _ timing: AdapterTiming) -> MonotonicTime? {
        guard let since = silence.since else { return nil }
        let time = since + limit(silence, timing)
        return max(time, climbed.notBefore ?? time)
    }

    /// What is wrong with a silence that has lasted long enough. Nil if it has not.
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

    /// What is wrong and what to do about it. Nil on the ground.
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

import Domain

/// Discovery in rounds: which one is running, when it ends, when the next begins, and what it has heard.
///
/// Discoveries are followed from `begin` to `end`, while the adapter is as it should be.
struct AdapterSearch: Sendable {
    private var airtime: Airtime
    private var pause: AttemptPause
    private var watch = SilenceWatch()
    /// The discovery that is running, as far as known.
    private var running: Running?
    /// The same, as it was counted last.
    private var counted: (since: MonotonicTime, isOurs: Bool)?
    /// When the last discovery ended, if none is running.
    private var pausedSince: MonotonicTime?
    private var lastBegan: MonotonicTime?
    private var lastEnded: MonotonicTime?
    private var lastInquiry: MonotonicTime?
    /// Until when to leave the air to another program, which seems to have ended our discovery to begin its own.
    private var givesWayUntil: MonotonicTime?
    /// Consecutive "busy" answers without sign of another discovery.
    private var doubts = 0
    /// The total time of our own discoveries, without the one that is running.
    private var ownTime = Duration.zero

    private struct Running: Sendable {
        var kinds: DiscoveryKinds
        var since: MonotonicTime
        /// Another program's, if false.
        var isOurs: Bool
    }

    private static let doubtsMax = 4

    init(mode: SearchMode, isShared: Bool) {
        airtime = Airtime(mode: mode, isShared: isShared)
        pause = AttemptPause(isShared: isShared)
    }

    // MARK: What is running

    var isRunning: Bool { running != nil }

    /// Whose discovery is running.
    var owner: DiscoveryOwner? { running.map { $0.isOurs ? .own : .another } }

    /// Whether a "busy" answer is neither explained by another discovery nor taken back.
    var hasDoubts: Bool { doubts > 0 && running == nil }

    /// What leaves the adapter quiet.
    var farewell: ManagementCommand? { running.flatMap { $0.isOurs ? .stopDiscovery($0.kinds) : nil } }

    /// The total time for which discoveries of this program have run.
    func time(at now: MonotonicTime) -> Duration {
        guard let counted, counted.isOurs else { return ownTime }
        return ownTime + (now - counted.since)
    }

    /// How long nothing has been heard. Nil while no discovery runs, or attempts to make a link disturb it.
    var silence: SilenceWatch? { running == nil || pause.isNeeded ? nil : watch }

    var hasEverHeard: Bool { watch.hasEverHeard }

    /// What it is needed for.
    var demand: SearchDemand { airtime.demand }

    /// Adds time counted before the adapter was plugged in again.
    mutating func addTime(before: Duration) { ownTime += before }

    // MARK: Events

    /// The adapter is as it should be.
    mutating func begin(at now: MonotonicTime) { watch.begin(at: now) }

    /// The adapter is off, forbidden, or being set up or repaired: nothing is known of discoveries any more.
    mutating func end() {
        running = nil
        watch.stop()
    }

    /// - Returns: whether this is a change.
    mutating func demandChanged(_ new: SearchDemand, at now: MonotonicTime) -> Bool {
        airtime.demandChanged(new, at: now)
    }

    /// A device was heard. Called for each report.
    mutating func heard(at now: MonotonicTime) { watch.heard(at: now) }

    /// A remedy begins, which has the time of another watch.
    mutating func endSilence(at now: MonotonicTime) { watch.restart(at: now) }

    /// A discovery began.
    ///
    /// - Parameter isOurs: whether one of ours was requested.
    /// - Returns: whether another program's has come to light.
    mutating func begun(_ kinds: DiscoveryKinds, isOurs: Bool, at now: MonotonicTime) -> Bool {
        if kinds.contains(.classic) { lastInquiry = now }
        guard running == nil else { return false }
        running = Running(kinds: kinds, since: now, isOurs: isOurs)
        if !isOurs { doubts = 0 }
        return !isOurs
    }

    /// How a discovery of ours ended by itself.
    enum End: Hashable, Sendable {
        /// So early that it counts as failed.
        case tooSoon
        case inTime
    }

    /// A discovery ended.
    ///
    /// - Parameter isStopped: whether that was requested.
    mutating func ended(isStopped: Bool, at now: MonotonicTime, _ timing: AdapterTiming) -> End? {
        guard let ended = running else { return nil }
        running = nil
        guard ended.isOurs, !isStopped else { return nil }
        // Earlier than the kernel ends a discovery by itself: another program may have ended it to begin its own.
        if now - ended.since < timing.roundKernel { giveWay(at: now, timing) }
        return now - ended.since < timing.roundMin ? .tooSoon : .inTime
    }

    /// Ours was granted. The event about it may have come first.
    mutating func started(_ kinds: DiscoveryKinds, at now: MonotonicTime) {
        if kinds.contains(.classic) { lastInquiry = now }
        if running?.isOurs != true { running = Running(kinds: kinds, since: now, isOurs: true) }
    }

    mutating func stopped() { running = nil }

    /// Makes the discovery that is running end at once.
    mutating func restart(at now: MonotonicTime, _ timing: AdapterTiming) {
        guard let kinds = running?.kinds else { return }
        running = Running(kinds: kinds, since: now - timing.roundMax, isOurs: true)
    }

    /// Leaves the air to another program for a while.
    mutating func giveWay(at now: MonotonicTime, _ timing: AdapterTiming) { givesWayUntil = now + timing.rest }

    // MARK: Busy

    enum Busy: Hashable, Sendable {
        /// Another program's discovery is running.
        case believed
        /// Nothing of the kind is to be seen.
        case doubted(hold: Duration, isFault: Bool)
    }

    /// Our discovery was refused as "busy", which the kernel also makes of a controller's Command Disallowed
    /// (`mgmt_status_table`, net/bluetooth/mgmt.c). It is due to another program's discovery if one was seen to begin,
    /// or if a device is heard (`heardWithoutDiscovery`).
    mutating func wasBusy(_ kinds: DiscoveryKinds, at now: MonotonicTime, _ timing: AdapterTiming) -> Busy {
        guard running == nil else {
            followAnothers(kinds, at: now)
            return .believed
        }
        doubts += 1
        // A round of another program is shorter than the last of these waits, and its end is reported.
        return .doubted(
            hold: timing.busyDoubt * (1 << min(doubts - 1, 3)), isFault: doubts.isMultiple(of: Self.doubtsMax))
    }

    /// A device was heard while no discovery was known to run.
    mutating func heardWithoutDiscovery(at now: MonotonicTime, _ timing: AdapterTiming) {
        followAnothers(.interleaved, at: now)
        countTime(at: now, timing)
    }

    private mutating func followAnothers(_ kinds: DiscoveryKinds, at now: MonotonicTime) {
        running = Running(kinds: kinds, since: now, isOurs: false)
        doubts = 0
    }

    /// The kernel is not busy.
    mutating func clearDoubts() { doubts = 0 }

    // MARK: Time

    /// Brings shares, pauses and the time listened up to date. To be called after each event.
    ///
    /// - Parameter hasAttempts: whether attempts to make a link are under way.
    mutating func update(hasAttempts: Bool, at now: MonotonicTime, _ timing: AdapterTiming) {
        pause.update(hasAttempts: hasAttempts, at: now, timing)
        countTime(at: now, timing)
    }

    private mutating func countTime(at now: MonotonicTime, _ timing: AdapterTiming) {
        airtime.update(at: now, timing)
        if let counted, counted.isOurs != running?.isOurs { countEnd(of: counted, at: now) }
        guard let running else {
            if pausedSince == nil { pausedSince = now }
            return
        }
        guard counted == nil else { return }
        counted = (now, running.isOurs)
        lastBegan = now
        if let pausedSince { watch.resume(after: pausedSince, at: now) }
        pausedSince = nil
    }

    private mutating func countEnd(of listened: (since: MonotonicTime, isOurs: Bool), at now: MonotonicTime) {
        if listened.isOurs { ownTime += now - listened.since }
        counted = nil
        lastEnded = now
        pausedSince = now
    }

    /// What to send now, if anything.
    ///
    /// - Parameter slots: the links, which an inquiry would disturb.
    func command(
        with settings: ControllerSettings, beside slots: LinkSlots, at now: MonotonicTime, _ timing: AdapterTiming
    ) -> ManagementCommand? {
        guard let running else {
            guard !pause.isResting, let next = nextRound(timing), now >= next else { return nil }
            return .startDiscovery(kinds(with: settings, beside: slots, at: now, timing))
        }
        if running.isOurs {
            let isOver = now >= running.since + airtime.share.roundLimit(running.kinds, timing)
            return pause.isResting || givesWay(at: now) || isOver ? .stopDiscovery(running.kinds) : nil
        }
        guard now >= running.since + timing.busyRetry, !pause.isResting, airtime.share != .none else { return nil }
        return .startDiscovery(kinds(with: settings, beside: slots, at: now, timing))
    }

    /// When there is something to send next.
    func commandTime(_ timing: AdapterTiming) -> MonotonicTime? {
        guard let running else { return pause.isResting ? nil : nextRound(timing) }
        if running.isOurs { return running.since + airtime.share.roundLimit(running.kinds, timing) }
        return pause.isResting || airtime.share == .none ? nil : running.since + timing.busyRetry
    }

    /// When the share of the air changes without an event.
    func shareTime(_ timing: AdapterTiming) -> MonotonicTime? { airtime.wakeTime(timing) }

    /// When the pause for attempts changes without an event.
    func pauseTime(_ timing: AdapterTiming) -> MonotonicTime? { pause.wakeTime(timing) }

    /// When the next round may begin. Nil if not before something changes.
    private func nextRound(_ timing: AdapterTiming) -> MonotonicTime? {
        guard airtime.share != .none else { return nil }
        guard let lastEnded else { return .origin }
        let time = airtime.share.nextRound(began: lastBegan ?? lastEnded, ended: lastEnded, timing)
        return time.map { max($0, givesWayUntil ?? $0) }
    }

    private func givesWay(at now: MonotonicTime) -> Bool { givesWayUntil.map { now < $0 } ?? false }

    /// What the next round listens to. Classic only from time to time: it keeps the adapter from LE meanwhile.
    private func kinds(
        with settings: ControllerSettings, beside slots: LinkSlots, at now: MonotonicTime, _ timing: AdapterTiming
    ) -> DiscoveryKinds {
        let hasClassic = settings.contains(.classic)
        guard settings.contains(.lowEnergy) else { return hasClassic ? .classic : .lowEnergy }
        guard hasClassic, airtime.inquires else { return .lowEnergy }
        let interval = slots.hasLinks ? timing.inquiryIntervalLinked : timing.inquiryInterval
        guard let lastInquiry, now < lastInquiry + interval else { return .interleaved }
        return .lowEnergy
    }
}

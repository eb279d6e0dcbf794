import Domain

/// Rounds of discovery, followed from `begin` to `end`, that is while `AdapterMachine` is in its phase `running`.
struct AdapterSearch: Sendable {
    private var airtime: Airtime
    private var pause: AttemptPause
    private var watch = SilenceWatch()
    private var running: Running?
    /// Start and owner of the discovery that `countTime` last saw running; nil if none was.
    private var counted: (since: MonotonicTime, isOurs: Bool)?
    private var pausedSince: MonotonicTime?
    private var lastBegan: MonotonicTime?
    private var lastEnded: MonotonicTime?
    private var lastInquiry: MonotonicTime?
    /// Time until which our discovery pauses for another program, which seems to have ended ours to begin its own.
    private var givesWayUntil: MonotonicTime?
    /// Number of consecutive "busy" answers without a sign of another program's discovery.
    private var doubts = 0
    private var ownTime = Duration.zero

    private struct Running: Sendable {
        var kinds: DiscoveryKinds
        var since: MonotonicTime
        var isOurs: Bool
    }

    private static let doubtsMax = 4

    init(mode: SearchMode, isShared: Bool) {
        airtime = Airtime(mode: mode, isShared: isShared)
        pause = AttemptPause(isShared: isShared)
    }

    // MARK: What is running

    var isRunning: Bool { running != nil }

    var owner: DiscoveryOwner? { running.map { $0.isOurs ? .own : .another } }

    /// Whether a "busy" answer is unexplained, because no other program's discovery was seen.
    var hasDoubts: Bool { doubts > 0 && running == nil }

    var farewell: ManagementCommand? { running.flatMap { $0.isOurs ? .stopDiscovery($0.kinds) : nil } }

    func time(at now: MonotonicTime) -> Duration {
        guard let counted, counted.isOurs else { return ownTime }
        return ownTime + (now - counted.since)
    }

    /// Time without a device report. Nil while no discovery runs, or while attempts to make a link disturb it.
    var silence: SilenceWatch? { running == nil || pause.isNeeded ? nil : watch }

    var hasEverHeard: Bool { watch.hasEverHeard }

    var demand: SearchDemand { airtime.demand }

    mutating func addTime(before: Duration) { ownTime += before }

    // MARK: Events

    mutating func begin(at now: MonotonicTime) { watch.begin(at: now) }

    mutating func end() {
        running = nil
        watch.stop()
    }

    mutating func demandChanged(_ new: SearchDemand, at now: MonotonicTime) -> Bool {
        airtime.demandChanged(new, at: now)
    }

    mutating func heard(at now: MonotonicTime) { watch.heard(at: now) }

    mutating func endSilence(at now: MonotonicTime) { watch.restart(at: now) }

    /// Records that a discovery has begun.
    ///
    /// - Parameter isOurs: whether a request of ours is outstanding.
    /// - Returns: whether another program's discovery was newly seen.
    mutating func begun(_ kinds: DiscoveryKinds, isOurs: Bool, at now: MonotonicTime) -> Bool {
        if kinds.contains(.classic) { lastInquiry = now }
        guard running == nil else { return false }
        running = Running(kinds: kinds, since: now, isOurs: isOurs)
        if !isOurs { doubts = 0 }
        return !isOurs
    }

    enum End: Hashable, Sendable {
        case tooSoon
        case inTime
    }

    mutating func ended(isStopped: Bool, at now: MonotonicTime, _ timing: AdapterTiming) -> End? {
        guard let ended = running else { return nil }
        running = nil
        guard ended.isOurs, !isStopped else { return nil }
        // The kernel itself ends no discovery this early: another program may have ended ours.
        if now - ended.since < timing.roundKernel { giveWay(at: now, timing) }
        return now - ended.since < timing.roundMin ? .tooSoon : .inTime
    }

    mutating func started(_ kinds: DiscoveryKinds, at now: MonotonicTime) {
        if kinds.contains(.classic) { lastInquiry = now }
        if running?.isOurs != true { running = Running(kinds: kinds, since: now, isOurs: true) }
    }

    mutating func stopped() { running = nil }

    mutating func restart(at now: MonotonicTime, _ timing: AdapterTiming) {
        guard let kinds = running?.kinds else { return }
        running = Running(kinds: kinds, since: now - timing.roundMax, isOurs: true)
    }

    mutating func giveWay(at now: MonotonicTime, _ timing: AdapterTiming) { givesWayUntil = now + timing.rest }

    // MARK: Busy

    enum Busy: Hashable, Sendable {
        case believed
        case doubted(hold: Duration, isFault: Bool)
    }

    /// Handles a "busy" answer to our request. The kernel also reports a controller's Command Disallowed as "busy"
    /// (`mgmt_status_table`, net/bluetooth/mgmt.c). Another program's discovery explains the answer if one was seen, or
    /// if a device is reported (`heardWithoutDiscovery`).
    mutating func wasBusy(_ kinds: DiscoveryKinds, at now: MonotonicTime, _ timing: AdapterTiming) -> Busy {
        guard running == nil else {
            followAnothers(kinds, at: now)
            return .believed
        }
        doubts += 1
        // If another program's discovery caused these answers, the kernel would report its end during the longest
        // pause. So repeated "busy" answers mean a fault.
        return .doubted(
            hold: timing.busyDoubt * (1 << min(doubts - 1, 3)), isFault: doubts.isMultiple(of: Self.doubtsMax))
    }

    mutating func heardWithoutDiscovery(at now: MonotonicTime, _ timing: AdapterTiming) {
        followAnothers(.interleaved, at: now)
        countTime(at: now, timing)
    }

    private mutating func followAnothers(_ kinds: DiscoveryKinds, at now: MonotonicTime) {
        running = Running(kinds: kinds, since: now, isOurs: false)
        doubts = 0
    }

    mutating func clearDoubts() { doubts = 0 }

    // MARK: Time

    /// Updates pauses and airtime. Call it after each event.
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

    func commandTime(_ timing: AdapterTiming) -> MonotonicTime? {
        guard let running else { return pause.isResting ? nil : nextRound(timing) }
        if running.isOurs { return running.since + airtime.share.roundLimit(running.kinds, timing) }
        return pause.isResting || airtime.share == .none ? nil : running.since + timing.busyRetry
    }

    func shareTime(_ timing: AdapterTiming) -> MonotonicTime? { airtime.wakeTime(timing) }

    func pauseTime(_ timing: AdapterTiming) -> MonotonicTime? { pause.wakeTime(timing) }

    private func nextRound(_ timing: AdapterTiming) -> MonotonicTime? {
        guard airtime.share != .none else { return nil }
        guard let lastEnded else { return .origin }
        let time = airtime.share.nextRound(began: lastBegan ?? lastEnded, ended: lastEnded, timing)
        return time.map { max($0, givesWayUntil ?? $0) }
    }

    private func givesWay(at now: MonotonicTime) -> Bool { givesWayUntil.map { now < $0 } ?? false }

    /// Returns the next round's radios. Includes Classic only at intervals, because an inquiry blocks LE.
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

package import MeterModel

/// How much airtime the search uses.
///
/// A discovery scans without pause (Linux `include/net/bluetooth/hci_core.h`, `DISCOV_LE_SCAN_WIN` =
/// `DISCOV_LE_SCAN_INT`): if a chip has one antenna for Wi-Fi and Bluetooth, none is left for Wi-Fi meanwhile. And the
/// kernel has one discovery for all programs, so one that never rests keeps the others from theirs
/// (Docs/Decisions/0020).
extension AdapterMachine {
    struct Air: Hashable, Sendable {
        var mode = SearchMode.gentle
        /// Whether the chip uses the same antenna for Wi-Fi, or may do so.
        var isShared = false
        var demand = SearchDemand()
        /// When the number of missing meters last grew from what it was, if any are missing.
        var missingSince: MonotonicTime?
        /// The share of airtime that follows from these.
        var share = Share.rounds(rest: .zero)
        /// The discovery that is running, ours or another program's.
        var listening: Listening?
        /// When the last discovery ended, if none is running.
        var pausedSince: MonotonicTime?
        var lastBegan: MonotonicTime?
        var lastEnded: MonotonicTime?
        /// Until when to leave the air to another program, which seems to have ended our discovery to begin its own.
        var givesWayUntil: MonotonicTime?
        /// Consecutive "busy" answers without sign of another discovery.
        var doubts = 0
        /// The total time of our own discoveries, without the one that is running.
        var taken = Duration.zero
    }

    struct Listening: Hashable, Sendable {
        var since: MonotonicTime
        var isOurs: Bool
    }

    enum Share: Hashable, Sendable {
        /// A person is looking: one round after another.
        case full
        case rounds(rest: Duration)
        /// A few seconds a minute.
        case sparse
        case none
    }

    /// Other meters are wanted, or a person is looking.
    package mutating func demandChanged(_ new: SearchDemand, at now: MonotonicTime) -> [AdapterAction] {
        guard new != air.demand else { return [] }
        if new.missing.isEmpty {
            air.missingSince = nil
        } else if air.missingSince == nil || new.missingCount > air.demand.missingCount {
            air.missingSince = now
        }
        air.demand = new
        return finish(at: now)
    }

    /// The present demand.
    package var demand: SearchDemand { air.demand }

    /// The total time for which discoveries of this program have run.
    package func discoveryTime(at now: MonotonicTime) -> Duration {
        guard let listening = air.listening, listening.isOurs else { return air.taken }
        return air.taken + (now - listening.since)
    }

    /// Adds time counted before the adapter was plugged in again.
    package mutating func countDiscovery(before: Duration) { air.taken += before }

    // MARK: Bookkeeping

    /// Updates the records after each event, before acting on it.
    mutating func keepAir(at now: MonotonicTime) {
        air.share = share(at: now)
        let present: Listening? =
            if case .running(.running(_, _, let isOurs)) = phase { Listening(since: now, isOurs: isOurs) } else { nil }
        if let before = air.listening, before.isOurs != present?.isOurs { stoppedListening(before, at: now) }
        guard let present else {
            if air.pausedSince == nil { air.pausedSince = now }
            return
        }
        guard air.listening == nil else { return }
        air.listening = present
        air.lastBegan = now
        // Only time spent listening counts as silence.
        if let silentSince, let pausedSince = air.pausedSince {
            self.silentSince = min(now, silentSince + (now - max(silentSince, pausedSince)))
        }
        air.pausedSince = nil
    }

    private mutating func stoppedListening(_ before: Listening, at now: MonotonicTime) {
        if before.isOurs { air.taken += now - before.since }
        air.listening = nil
        air.lastEnded = now
        air.pausedSince = now
    }

    private func share(at now: MonotonicTime) -> Share {
        if let until = air.demand.byHandUntil, now < until { return .full }
        if air.mode == .always { return .rounds(rest: timing.rest) }
        let isMissing = !air.demand.missing.isEmpty
        if air.isShared, air.demand.hasFastStream { return isMissing ? .sparse : .none }
        guard isMissing, let since = air.missingSince else {
            return air.mode == .gentle || air.demand.hasDistant ? .sparse : .none
        }
        return .rounds(rest: now < since + timing.missingPatience ? timing.rest : timing.restLong)
    }

    // MARK: Rounds

    /// When the next round may begin. Nil if not before something changes.
    var nextRound: MonotonicTime? {
        guard air.share != .none else { return nil }
        guard let ended = air.lastEnded else { return .origin }
        let time: MonotonicTime
        switch air.share {
        case .full: time = ended + timing.restByHand
        case .rounds(let rest): time = ended + rest
        case .sparse: time = max(ended + timing.rest, (air.lastBegan ?? ended) + timing.sparseInterval)
        case .none: return nil
        }
        return max(time, air.givesWayUntil ?? time)
    }

    /// When the search has something to do next.
    func searchTime(_ search: Search) -> MonotonicTime? {
        switch search {
        case .none: isResting ? nil : nextRound
        case .running(let kinds, let since, isOurs: true): since + roundLimit(kinds)
        case .running(_, let since, isOurs: false): isResting || air.share == .none ? nil : since + timing.busyRetry
        }
    }

    /// How long one of our rounds may last.
    func roundLimit(_ kinds: DiscoveryKinds) -> Duration {
        switch air.share {
        case .full, .rounds: kinds.contains(.classic) ? timing.roundMax : timing.round
        case .sparse: timing.sparseRound
        case .none: .zero
        }
    }

    /// Whether to listen to Classic as well from time to time. An inquiry keeps the adapter from everything else.
    var inquires: Bool {
        switch air.share {
        case .full: true
        case .rounds: air.mode == .always || air.demand.missing.contains(.classic)
        case .sparse, .none: false
        }
    }

    /// When the share changes without an event.
    var shareTime: MonotonicTime? {
        switch air.share {
        case .full: air.demand.byHandUntil
        case .rounds(let rest) where air.mode != .always && rest < timing.restLong:
            air.missingSince.map { $0 + timing.missingPatience }
        case .rounds, .sparse, .none: nil
        }
    }

    // MARK: Others

    /// bluetoothd has just taken up the adapter: it unblocks all devices first (`clear_blocked`, BlueZ src/adapter.c),
    /// which the kernel reports. It does not know of a discovery already running, and would fail a request to begin one
    /// meanwhile; it does hear of that discovery's end, and of later ones.
    package mutating func managerCame(at now: MonotonicTime) -> [AdapterAction] {
        air.givesWayUntil = now + timing.rest
        return finish(at: now)
    }

    func givesWay(at now: MonotonicTime) -> Bool { air.givesWayUntil.map { now < $0 } ?? false }

    /// Our discovery was refused as "busy", which the kernel also makes of a controller's Command Disallowed
    /// (`mgmt_status_table`, net/bluetooth/mgmt.c). It is due to another program's discovery if one was seen to begin,
    /// or if a device is heard (`heardWithoutDiscovery`).
    mutating func wasBusy(_ kinds: DiscoveryKinds, at now: MonotonicTime) -> [AdapterAction] {
        isDenied = false
        guard case .running(let search) = phase else { return [] }
        if case .running = search {
            phase = .running(.running(kinds, since: now, isOurs: false))
            believeBusy()
            return []
        }
        air.doubts += 1
        // A round of another program is shorter than the last of these waits, and its end is reported.
        holdUntil = now + timing.busyDoubt * (1 << min(air.doubts - 1, 3))
        guard air.doubts.isMultiple(of: Self.doubtsMax) else { return [] }
        return climb(.fault, "it says that it is busy, and no program's discovery is to be seen", at: now)
    }

    /// A device was heard while no discovery was known to run.
    mutating func heardWithoutDiscovery(at now: MonotonicTime) {
        guard air.doubts > 0, outstanding == nil, case .running(.none) = phase else { return }
        phase = .running(.running(.interleaved, since: now, isOurs: false))
        believeBusy()
        keepAir(at: now)
    }

    mutating func believeBusy() {
        air.doubts = 0
        failures = 0
        if ladder.cause == .fault { ladder = Ladder() }
    }

    private static let doubtsMax = 4
}

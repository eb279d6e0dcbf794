import Domain

/// How much airtime the search uses.
///
/// A discovery scans without pause (Linux `include/net/bluetooth/hci_core.h`, `DISCOV_LE_SCAN_WIN` =
/// `DISCOV_LE_SCAN_INT`): if a chip has one antenna for Wi-Fi and Bluetooth, none is left for Wi-Fi meanwhile. And the
/// kernel has one discovery for all programs, so one that never rests keeps the others from theirs
/// (Docs/Decisions/0020).
struct Airtime: Sendable {
    private let mode: SearchMode
    /// Whether the chip uses the same antenna for Wi-Fi, or may do so.
    private let isShared: Bool
    private(set) var demand = SearchDemand()
    /// When the number of missing meters last grew from what it was, if any are missing.
    private var missingSince: MonotonicTime?
    /// What follows from these.
    private(set) var share = AirShare.rounds(rest: .zero)

    init(mode: SearchMode, isShared: Bool) {
        self.mode = mode
        self.isShared = isShared
    }

    /// - Returns: whether this is a change.
    mutating func demandChanged(_ new: SearchDemand, at now: MonotonicTime) -> Bool {
        guard new != demand else { return false }
        if new.missing.isEmpty {
            missingSince = nil
        } else if missingSince == nil || new.missingCount > demand.missingCount {
            missingSince = now
        }
        demand = new
        return true
    }

    /// Brings the share up to date. To be called after each event.
    mutating func update(at now: MonotonicTime, _ timing: AdapterTiming) { share = share(at: now, timing) }

    private func share(at now: MonotonicTime, _ timing: AdapterTiming) -> AirShare {
        if let until = demand.byHandUntil, now < until { return .full }
        if mode == .always { return .rounds(rest: timing.rest) }
        let isMissing = !demand.missing.isEmpty
        if isShared, demand.hasFastStream { return isMissing ? .sparse : .none }
        guard isMissing, let since = missingSince else {
            return mode == .gentle || demand.hasDistant ? .sparse : .none
        }
        return .rounds(rest: now < since + timing.missingPatience ? timing.rest : timing.restLong)
    }

    /// Whether to listen to Classic as well from time to time. An inquiry keeps the adapter from everything else.
    var inquires: Bool {
        switch share {
        case .full: true
        case .rounds: mode == .always || demand.missing.contains(.classic)
        case .sparse, .none: false
        }
    }

    /// When the share changes without an event.
    func wakeTime(_ timing: AdapterTiming) -> MonotonicTime? {
        switch share {
        case .full: demand.byHandUntil
        case .rounds(let rest) where mode != .always && rest < timing.restLong:
            missingSince.map { $0 + timing.missingPatience }
        case .rounds, .sparse, .none: nil
        }
    }
}

/// The part of the time that the search listens.
enum AirShare: Hashable, Sendable {
    /// A person is looking: one round after another.
    case full
    case rounds(rest: Duration)
    /// A few seconds a minute.
    case sparse
    case none

    /// How long one of our rounds may last.
    func roundLimit(_ kinds: DiscoveryKinds, _ timing: AdapterTiming) -> Duration {
        switch self {
        case .full, .rounds: kinds.contains(.classic) ? timing.roundMax : timing.round
        case .sparse: timing.sparseRound
        case .none: .zero
        }
    }

    /// When the next round may begin, after one that lasted from `began` to `ended`. Nil if not before something
    /// changes.
    func nextRound(began: MonotonicTime, ended: MonotonicTime, _ timing: AdapterTiming) -> MonotonicTime? {
        switch self {
        case .full: ended + timing.restByHand
        case .rounds(let rest): ended + rest
        case .sparse: max(ended + timing.rest, began + timing.sparseInterval)
        case .none: nil
        }
    }
}

import Domain

/// Airtime that the search uses.
///
/// A discovery scans without pause (Linux `include/net/bluetooth/hci_core.h`, `DISCOV_LE_SCAN_WIN` =
/// `DISCOV_LE_SCAN_INT`). A chip with one antenna for Wi-Fi and Bluetooth then has no airtime left for Wi-Fi. The
/// kernel runs one discovery for all programs, so an endless discovery blocks those of other programs
/// (Docs/Decisions/0020).
struct Airtime: Sendable {
    private let mode: SearchMode
    private let isShared: Bool
    private(set) var demand = SearchDemand()
    /// Time when the number of missing meters last increased. Nil if none is missing.
    private var missingSince: MonotonicTime?
    private(set) var share = AirShare.rounds(rest: .zero)

    init(mode: SearchMode, isShared: Bool) {
        self.mode = mode
        self.isShared = isShared
    }

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

    var inquires: Bool {
        switch share {
        case .full: true
        case .rounds: mode == .always || demand.missing.contains(.classic)
        case .sparse, .none: false
        }
    }

    func wakeTime(_ timing: AdapterTiming) -> MonotonicTime? {
        switch share {
        case .full: demand.byHandUntil
        case .rounds(let rest) where mode != .always && rest < timing.restLong:
            missingSince.map { $0 + timing.missingPatience }
        case .rounds, .sparse, .none: nil
        }
    }
}

enum AirShare: Hashable, Sendable {
    /// Rounds with only a short pause, because a person is searching.
    case full
    case rounds(rest: Duration)
    case sparse
    case none

    func roundLimit(_ kinds: DiscoveryKinds, _ timing: AdapterTiming) -> Duration {
        switch self {
        case .full, .rounds: kinds.contains(.classic) ? timing.roundMax : timing.round
        case .sparse: timing.sparseRound
        case .none: .zero
        }
    }

    /// Returns the earliest start of the round after the one that lasted from `began` to `ended`. Nil if only an event
    /// starts it.
    func nextRound(began: MonotonicTime, ended: MonotonicTime, _ timing: AdapterTiming) -> MonotonicTime? {
        switch self {
        case .full: ended + timing.restByHand
        case .rounds(let rest): ended + rest
        case .sparse: max(ended + timing.rest, began + timing.sparseInterval)
        case .none: nil
        }
    }
}

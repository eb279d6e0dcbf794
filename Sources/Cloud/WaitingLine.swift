import LeaseCore
import MeterModel

/// The hosts that wait for one meter, first come first, and the offer to the first of them.
///
/// ```
///   ┌─────────┐  canBeHad   ┌─────────┐  taken by the head, or not within 10 s: the next one moves up
///   │ WAITING │────────────▶│ OFFERED │──────────────────────────────────────────────────────────────▶ WAITING
///   └─────────┘◀────────────└─────────┘
///                 cannotBeHad
/// ```
///
/// Whether the lease can be had is the caller's knowledge. The line is never durable: whoever waits has its event stream
/// open, and queues again after a restart of the cloud.
struct WaitingLine: Hashable, Sendable {
    struct Waiter: Hashable, Sendable {
        var host: HostID
        var name: String
    }

    /// More than these in one line are refused.
    static let waitersMax = 64

    private(set) var waiters: [Waiter] = []
    /// Until when the first waiter has an offer; nil: it has none.
    private(set) var offeredUntil: MonotonicTime?

    var isEmpty: Bool { waiters.isEmpty }
    var isFull: Bool { waiters.count >= Self.waitersMax }
    var names: [String] { waiters.map(\.name) }

    /// Who may have the meter when it can be had, before anybody else. Not one whose offer has run out.
    func reserved(at now: MonotonicTime) -> HostID? {
        if let offeredUntil, offeredUntil <= now { return waiters.dropFirst().first?.host }
        return waiters.first?.host
    }

    /// - Returns: whether that changed anything: a host waits once.
    mutating func join(_ waiter: Waiter) -> Bool {
        guard !waiters.contains(where: { $0.host == waiter.host }) else { return false }
        waiters.append(waiter)
        return true
    }

    /// A person takes the meter over: this host is next, whoever waits.
    mutating func joinAtHead(_ waiter: Waiter) -> Bool {
        guard waiters.first?.host != waiter.host else { return false }
        waiters.removeAll { $0.host == waiter.host }
        waiters.insert(waiter, at: 0)
        offeredUntil = nil
        return true
    }

    /// It does not want it any more, or nobody could tell it any more, or it has the meter now.
    mutating func leave(_ host: HostID) -> Bool {
        guard let place = waiters.firstIndex(where: { $0.host == host }) else { return false }
        waiters.remove(at: place)
        if place == 0 { offeredUntil = nil }
        return true
    }

    enum OnTurn: Equatable {
        /// Tell it, with `LeaseRules.reservation` as the time it has.
        case offer(Waiter)
        case none
    }

    /// Nobody has the meter. Called again and again while that is so; an offer that ran out goes to the next.
    mutating func canBeHad(at now: MonotonicTime) -> OnTurn {
        if let offeredUntil {
            guard offeredUntil <= now else { return .none }
            waiters.removeFirst()
            self.offeredUntil = nil
        }
        guard let first = waiters.first else { return .none }
        offeredUntil = now + LeaseRules.reservation
        return .offer(first)
    }

    /// Somebody has it: an offer that stands means nothing any more, and its host keeps its place.
    mutating func cannotBeHad() { offeredUntil = nil }
}

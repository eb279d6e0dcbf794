import LeaseCore
import MeterModel

/// The hosts that wait for one meter, first come first, as this copy of the cloud knows them, and its offer to the
/// first of them.
///
/// ```
///   ┌─────────┐  canBeHad   ┌─────────┐  taken by the head, or not within 10 s: the next one moves up
///   │ WAITING │────────────▶│ OFFERED │──────────────────────────────────────────────────────────────▶ WAITING
///   └─────────┘◀────────────└─────────┘
///                 cannotBeHad
/// ```
///
/// Whether the lease can be had is the caller's knowledge. Who waits, all copies agree on through the engine
/// (`QueueEdit`); the offer and its time are this copy's own, which is the one that the head listens to. The queue is
/// never durable: whoever waits has its event stream open, and queues again after a restart of the cloud.
struct LeaseQueue: Hashable, Sendable {
    /// More than these in one queue are refused.
    static let waitersMax = 64

    private(set) var waiters: [Waiter] = []
    /// Of the state of the queue that this is.
    private(set) var version: UInt64 = 0
    /// Until when the first waiter has an offer of this copy; nil means it has none.
    private(set) var offeredUntil: MonotonicTime?

    init(version: UInt64 = 0) { self.version = version }

    var isEmpty: Bool { waiters.isEmpty }
    var names: [String] { waiters.map(\.name) }

    /// Who may have the meter when it can be had, before anybody else. Not one whose offer has run out.
    func reserved(at now: MonotonicTime) -> HostID? {
        if let offeredUntil, offeredUntil <= now { return waiters.dropFirst().first?.host }
        return waiters.first?.host
    }

    /// Takes in how the queue is. What is older than what is known changes nothing. An offer stands as long as its host
    /// is the first, and listens to the same copy.
    ///
    /// - Returns: whether it is another queue to whoever is shown it.
    mutating func take(_ queue: QueueState) -> Bool {
        guard queue.version > version else { return false }
        version = queue.version
        let (before, head) = (waiters, waiters.first)
        waiters = queue.waiters
        if waiters.first?.host != head?.host || waiters.first?.copy != head?.copy { offeredUntil = nil }
        return !waiters.elementsEqual(before) { $0.host == $1.host && $0.name == $1.name }
    }

    /// The first, where its offer has run out: it is to leave.
    func late(at now: MonotonicTime) -> Waiter? {
        guard let offeredUntil, offeredUntil <= now else { return nil }
        return waiters.first
    }

    enum OnTurn: Equatable {
        /// Tell it, with `LeaseRules.reservation` as the time it has.
        case offer(Waiter)
        case none
    }

    /// Nobody has the meter. Called again and again while that is so.
    ///
    /// - Parameter copy: this one; who listens to another is made offers by that.
    mutating func canBeHad(at now: MonotonicTime, through copy: ReplicaID) -> OnTurn {
        guard offeredUntil == nil, let first = waiters.first, first.copy == copy else { return .none }
        offeredUntil = now + LeaseRules.reservation
        return .offer(first)
    }

    /// Somebody has it: an offer that stands means nothing any more, and its host keeps its place.
    mutating func cannotBeHad() { offeredUntil = nil }
}

/// One change of those who wait for a meter. Made once more on a queue that has changed meanwhile, it means the same;
/// made on its own outcome, it changes nothing.
enum QueueEdit: Hashable, Sendable {
    /// At the end, unless the queue is full. A host waits once: one that waits already keeps its place, and may have
    /// come to another copy meanwhile.
    case join(Waiter)
    /// A person takes the meter over: this host is next, whoever waits.
    case joinAtHead(Waiter)
    /// It does not want it any more, or it has the meter now.
    case leave(HostID)
    /// Nobody could tell these any more, or they have the meter, as they stand there; and one that had an offer and did
    /// not take it, as long as it is the first.
    case remove(Set<Waiter>, late: Waiter?)
    /// Nobody hears of this copy any more.
    case leaveAll(of: ReplicaID)

    func callAsFunction(_ waiters: [Waiter]) -> [Waiter] {
        switch self {
        case .join(let waiter):
            var waiters = waiters
            if let place = waiters.firstIndex(where: { $0.host == waiter.host }) {
                waiters[place] = waiter
            } else if waiters.count < LeaseQueue.waitersMax {
                waiters.append(waiter)
            }
            return waiters
        case .joinAtHead(let waiter): return [waiter] + waiters.filter { $0.host != waiter.host }
        case .leave(let host): return waiters.filter { $0.host != host }
        case .remove(let gone, let late):
            let first = waiters.first
            let left = first != nil && first == late ? waiters.dropFirst() : waiters[...]
            return left.filter { !gone.contains($0) }
        case .leaveAll(let copy): return waiters.filter { $0.copy != copy }
        }
    }
}

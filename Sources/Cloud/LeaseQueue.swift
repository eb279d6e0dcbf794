import Domain

/// The hosts that wait for one meter, in order, as known to this replica, and its offer to the first.
///
/// ```
///   ┌─────────┐  canBeHad   ┌─────────┐  taken by the head, or not within 10 s: the next one moves up
///   │ WAITING │────────────▶│ OFFERED │──────────────────────────────────────────────────────────────▶ WAITING
///   └─────────┘◀────────────└─────────┘
///                 cannotBeHad
/// ```
///
/// All replicas agree on the waiting hosts through the engine (`QueueEdit`). The offer and its deadline belong to the
/// replica to which the head of the queue listens. The queue is never durable: waiting hosts queue again after a
/// restart of the cloud.
struct LeaseQueue: Hashable, Sendable {
    static let waitersMax = 64

    private(set) var waiters: [Waiter] = []
    private(set) var version: UInt64 = 0
    /// Deadline of this replica's offer to the first host; nil without an offer.
    private(set) var offeredUntil: MonotonicTime?

    init(version: UInt64 = 0) { self.version = version }

    var isEmpty: Bool { waiters.isEmpty }
    var names: [String] { waiters.map(\.name) }

    /// Returns the host to serve first once the meter is available. Skips a host whose offer has expired.
    func reserved(at now: MonotonicTime) -> HostID? {
        if let offeredUntil, offeredUntil <= now { return waiters.dropFirst().first?.host }
        return waiters.first?.host
    }

    /// Accepts a newer state. An offer remains valid while its host is first and listens to the same replica.
    ///
    /// - Returns: whether the change is visible to hosts.
    mutating func update(_ queue: QueueState) -> Bool {
        guard queue.version > version else { return false }
        version = queue.version
        let (before, head) = (waiters, waiters.first)
        waiters = queue.waiters
        if waiters.first?.host != head?.host || waiters.first?.copy != head?.copy { offeredUntil = nil }
        return !waiters.elementsEqual(before) { $0.host == $1.host && $0.name == $1.name }
    }

    func late(at now: MonotonicTime) -> Waiter? {
        guard let offeredUntil, offeredUntil <= now else { return nil }
        return waiters.first
    }

    enum OnTurn: Equatable {
        /// Offer to send to this host, valid for `LeaseRules.reservation`.
        case offer(Waiter)
        case none
    }

    /// Offers the meter to the first host. Call it repeatedly while no host holds the meter.
    ///
    /// - Parameter copy: id of this replica. A host that listens to another replica receives its offer from that
    ///   replica.
    mutating func canBeHad(at now: MonotonicTime, through copy: ReplicaID) -> OnTurn {
        guard offeredUntil == nil, let first = waiters.first, first.copy == copy else { return .none }
        offeredUntil = now + LeaseRules.reservation
        return .offer(first)
    }

    /// Withdraws the offer; its host keeps its place.
    mutating func cannotBeHad() { offeredUntil = nil }
}

/// A change of a queue: idempotent, and valid even if the queue has changed in the meantime.
enum QueueEdit: Hashable, Sendable {
    /// Appends a host unless the queue is full. A waiting host keeps its place, even if it now listens to another
    /// replica.
    case join(Waiter)
    /// Puts a host first, because a person takes over the meter on that host.
    case joinAtHead(Waiter)
    case leave(HostID)
    /// Removes exactly these entries, whose hosts are unreachable or have the meter. Removes `late`, which missed its
    /// offer, only while it is first.
    case remove(Set<Waiter>, late: Waiter?)
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

import Domain

/// The hosts that wait for one meter, in order, as this copy of the cloud knows them, and its offer to the first.
///
/// ```
///   ┌─────────┐  canBeHad   ┌─────────┐  taken by the head, or not within 10 s: the next one moves up
///   │ WAITING │────────────▶│ OFFERED │──────────────────────────────────────────────────────────────▶ WAITING
///   └─────────┘◀────────────└─────────┘
///                 cannotBeHad
/// ```
///
/// The caller knows whether the meter is available. All copies agree through the engine on who waits (`QueueEdit`); the
/// offer and its time belong to this copy, to which the head of the queue listens. The queue is never durable: a host
/// that waits has its event stream open, and queues again after a restart of the cloud.
struct LeaseQueue: Hashable, Sendable {
    /// Most hosts in one queue; more are refused.
    static let waitersMax = 64

    private(set) var waiters: [Waiter] = []
    /// The version of the state that this is.
    private(set) var version: UInt64 = 0
    /// Until when this copy's offer to the first host stands, if there is one.
    private(set) var offeredUntil: MonotonicTime?

    init(version: UInt64 = 0) { self.version = version }

    var isEmpty: Bool { waiters.isEmpty }
    var names: [String] { waiters.map(\.name) }

    /// The host that may have the meter before anybody else once it is available. Not one whose offer has expired.
    func reserved(at now: MonotonicTime) -> HostID? {
        if let offeredUntil, offeredUntil <= now { return waiters.dropFirst().first?.host }
        return waiters.first?.host
    }

    /// Takes over the state of the queue, unless a newer one is known. An offer stands as long as its host is the
    /// first, and listens to the same copy.
    ///
    /// - Returns: whether the queue changed for those to whom it is shown.
    mutating func update(_ queue: QueueState) -> Bool {
        guard queue.version > version else { return false }
        version = queue.version
        let (before, head) = (waiters, waiters.first)
        waiters = queue.waiters
        if waiters.first?.host != head?.host || waiters.first?.copy != head?.copy { offeredUntil = nil }
        return !waiters.elementsEqual(before) { $0.host == $1.host && $0.name == $1.name }
    }

    /// The first host, if its offer has expired: it has to leave.
    func late(at now: MonotonicTime) -> Waiter? {
        guard let offeredUntil, offeredUntil <= now else { return nil }
        return waiters.first
    }

    enum OnTurn: Equatable {
        /// Send it an offer, valid for `LeaseRules.reservation`.
        case offer(Waiter)
        case none
    }

    /// Nobody has the meter. To be called again and again while that lasts.
    ///
    /// - Parameter copy: this one. Hosts that listen to another copy get offers from that one.
    mutating func canBeHad(at now: MonotonicTime, through copy: ReplicaID) -> OnTurn {
        guard offeredUntil == nil, let first = waiters.first, first.copy == copy else { return .none }
        offeredUntil = now + LeaseRules.reservation
        return .offer(first)
    }

    /// Somebody has the meter: an offer no longer stands, and its host keeps its place.
    mutating func cannotBeHad() { offeredUntil = nil }
}

/// One change of the hosts that wait for a meter. Repeated on a queue that has changed in the meantime, it means the
/// same; repeated on its own result, it changes nothing.
enum QueueEdit: Hashable, Sendable {
    /// Appends a host unless the queue is full. A host waits once: if it is waiting already it keeps its place, and may
    /// have moved to another copy.
    case join(Waiter)
    /// A person takes the meter over, so this host is next, whoever waits.
    case joinAtHead(Waiter)
    /// The host no longer wants the meter, or has it now.
    case leave(HostID)
    /// Removes hosts, as they stand there, that can no longer be reached or that have the meter; and one that did not
    /// take its offer, as long as it is the first.
    case remove(Set<Waiter>, late: Waiter?)
    /// This copy is gone.
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

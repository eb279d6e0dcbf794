import CloudAPI
import Domain
import Synchronization

final class LeaseQueues: Sendable {
    fileprivate struct State {
        var queues: [MeterPlace: LeaseQueue] = [:]
        /// Versions at which queues became empty, to ignore older states that arrive late. Removed once all queues have
        /// been read at a later version.
        var emptied: [MeterPlace: UInt64] = [:]
        var readThrough: UInt64 = 0
        var zones: [String: Set<String>] = [:]
        var hosts: [HostPlace: Int] = [:]
    }

    /// Maximum number of meters for which one host waits: each queue is checked every second.
    static let queuesPerHost = 256

    private let state = Mutex(State())

    var zones: [String] { state.withLock { $0.zones.keys.sorted() } }

    func places(in zone: String) -> [MeterPlace] {
        (state.withLock { $0.zones[zone] } ?? []).sorted().map { MeterPlace(zone: zone, meter: $0) }
    }

    /// - Throws: `rateLimited` if the host already waits for the maximum number of meters.
    func checkShare(of host: HostID, at place: MeterPlace) throws(CloudFailure) {
        let count = state.withLock { state in
            state.queues[place]?.waiters.contains { $0.host == host } == true
                ? 0 : state.hosts[HostPlace(zone: place.zone, host: host)] ?? 0
        }
        guard count < Self.queuesPerHost else {
            throw CloudFailure(
                .rateLimited, "this host waits for \(count) meters already; leave another queue first",
                retryAfter: .seconds(60))
        }
    }

    var copies: Set<ReplicaID> { state.withLock { Set($0.queues.values.flatMap { $0.waiters.map(\.copy) }) } }

    func places(waitedAtThrough copy: ReplicaID) -> [MeterPlace] {
        state.withLock { state in
            state.queues.filter { $0.value.waiters.contains { $0.copy == copy } }.keys.sorted()
        }
    }

    func queue(at place: MeterPlace) -> LeaseQueue? { state.withLock { $0.queues[place] } }

    func names(at place: MeterPlace) -> [String] { queue(at: place)?.names ?? [] }

    func reserved(at place: MeterPlace, now: MonotonicTime) -> HostID? { queue(at: place)?.reserved(at: now) }

    /// Accepts a queue's state unless a newer one is known: states may arrive in any order.
    func update(_ queue: QueueState, at place: MeterPlace) -> Bool { state.withLock { $0.update(queue, at: place) } }

    /// - Returns: the queues that changed.
    func update(_ reading: QueueSnapshot) -> [MeterPlace] {
        state.withLock { state in
            var news: [MeterPlace] = []
            for place in state.queues.keys where reading.queues[place] == nil {
                let nobody = QueueState(waiters: [], version: reading.version)
                if state.update(nobody, at: place) { news.append(place) }
            }
            for (place, queue) in reading.queues where state.update(queue, at: place) { news.append(place) }
            guard reading.version >= state.readThrough else { return news.sorted() }
            state.readThrough = reading.version
            state.emptied = state.emptied.filter { $0.value > reading.version }
            return news.sorted()
        }
    }

    func offer<Value: Sendable>(at place: MeterPlace, _ body: (inout LeaseQueue) -> Value) -> Value? {
        state.withLock { state in
            guard var queue = state.queues[place] else { return nil }
            defer { state.queues[place] = queue }
            return body(&queue)
        }
    }
}

extension LeaseQueues.State {
    fileprivate mutating func update(_ shared: QueueState, at place: MeterPlace) -> Bool {
        var queue = queues[place] ?? LeaseQueue(version: max(emptied[place] ?? 0, readThrough))
        count(queue.waiters, at: place, by: -1)
        let isNews = queue.update(shared)
        count(queue.waiters, at: place, by: 1)
        queues[place] = queue.isEmpty ? nil : queue
        emptied[place] = queue.isEmpty && queue.version > readThrough ? queue.version : nil
        return isNews
    }

    private mutating func count(_ waiters: [Waiter], at place: MeterPlace, by step: Int) {
        for waiter in waiters {
            let host = HostPlace(zone: place.zone, host: waiter.host)
            let count = hosts[host, default: 0] + step
            hosts[host] = count > 0 ? count : nil
        }
        guard !waiters.isEmpty else { return }
        if step > 0 {
            zones[place.zone, default: []].insert(place.meter)
        } else {
            zones[place.zone]?.remove(place.meter)
        }
        if zones[place.zone]?.isEmpty == true { zones[place.zone] = nil }
    }
}

import CloudAPI
import LeaseCore
import MeterModel
import Synchronization

/// Who watches which meter at this copy of the cloud, and what they are told. Nothing of it is stored.
final class RelayHub: Sendable {
    private struct Watcher {
        var continuation: AsyncStream<RelaySubscription.Numbered>.Continuation
        var credential: String
        var wantsAll: Bool
    }

    private struct Watched {
        var watchers: [UInt64: Watcher] = [:]
        /// Measurements told so far.
        var told = 0
        /// The lease as last read or heard of.
        var lease: LeaseRecord?
        var isLeaseKnown = false
        /// When the holder was last told that somebody watches.
        var interestAt: MonotonicTime?
        var refusalAt: MonotonicTime?

        func isInterestDue(at now: MonotonicTime) -> Bool {
            interestAt.map { now - $0 >= RelayTimes.interestRepeat } ?? true
        }

        var wantsAll: Bool { watchers.values.contains(where: \.wantsAll) }
    }

    /// What a holder must hear.
    struct Interest: Hashable {
        var holder: HostID
        var wantsAll: Bool
    }

    private struct State {
        var meters: [MeterPlace: Watched] = [:]
        var nextID: UInt64 = 0
        var isClosed = false
    }

    /// How often the watchers may be told of a host without the lease that sends readings.
    private static let refusalInterval = Duration.seconds(10)

    private static let dueAtOnce = EventBuffer.waitingMax / 4

    private let state = Mutex(State())
    /// Called when nobody watches a meter any more that was held.
    private let ended: @Sendable (MeterPlace, HostID) -> Void

    init(ended: @escaping @Sendable (MeterPlace, HostID) -> Void) { self.ended = ended }

    /// - Parameter first: the subscription's first event.
    /// - Throws: `serviceUnavailable` once it is closed, `limitExceeded`.
    func watch(
        _ place: MeterPlace, credential: String, wantsAll: Bool, first: RelayEventBody
    ) throws(CloudFailure) -> RelaySubscription {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RelaySubscription.Numbered.self, bufferingPolicy: .bufferingNewest(RelaySubscription.waitingMax))
        let watcher = Watcher(continuation: continuation, credential: credential, wantsAll: wantsAll)
        let result = state.withLock { state -> Result<(id: UInt64, told: Int), CloudFailure> in
            guard !state.isClosed else { return .failure(.stopping) }
            let count = state.meters[place]?.watchers.count ?? 0
            guard count < CloudLimits.watchersPerMeter else {
                return .failure(
                    CloudFailure(
                        .limitExceeded, "\(count) hosts watch \(place.meter) here already; ask again later",
                        retryAfter: .seconds(30)))
            }
            state.nextID += 1
            var watched = state.meters[place] ?? Watched()
            continuation.yield(RelaySubscription.Numbered(event: RelayEvent(first), before: watched.told))
            // The holder must hear of it where somebody wants more than before.
            if wantsAll, !watched.wantsAll { watched.interestAt = nil }
            watched.watchers[state.nextID] = watcher
            state.meters[place] = watched
            return .success((state.nextID, watched.told))
        }
        let (id, told) = try result.get()
        continuation.onTermination = { [weak self] _ in self?.remove(id, from: place) }
        return RelaySubscription(stream: stream, first: told)
    }

    private func remove(_ id: UInt64, from place: MeterPlace) {
        let left = state.withLock { state -> HostID? in
            guard state.meters[place]?.watchers.removeValue(forKey: id) != nil,
                state.meters[place]?.watchers.isEmpty == true
            else { return nil }
            return state.meters.removeValue(forKey: place)?.lease?.holder?.host
        }
        if let left { ended(place, left) }
    }

    func isWatched(_ place: MeterPlace) -> Bool { state.withLock { $0.meters[place] != nil } }

    /// Number of open streams, in all zones.
    var watcherCount: Int { state.withLock { $0.meters.values.reduce(0) { $0 + $1.watchers.count } } }

    /// The lease of a watched meter, as last heard of.
    func lease(of place: MeterPlace) -> LeaseRecord? { state.withLock { $0.meters[place]?.lease } }

    /// The lease of a meter was read, or changed.
    ///
    /// - Returns: whether that is news to those who watch it, and what its holder must hear. Nil if nobody watches
    ///   it, or if something newer is known.
    func update(
        _ lease: LeaseRecord?, of place: MeterPlace, at now: MonotonicTime
    ) -> (isNews: Bool, interest: Interest?)? {
        state.withLock { state in
            guard let known = state.meters[place] else { return nil }
            // Words about a lease may overtake each other; its token tells.
            if let old = known.lease, let new = lease, new.token < old.token { return nil }
            let isNews =
                known.isLeaseKnown
                && (known.lease?.token != lease?.token || known.lease?.state != lease?.state)
            state.meters[place]?.lease = lease
            state.meters[place]?.isLeaseKnown = true
            guard let holder = lease?.holder?.host else { return (isNews, nil) }
            guard isNews || known.isInterestDue(at: now) else { return (isNews, nil) }
            state.meters[place]?.interestAt = now
            return (isNews, Interest(holder: holder, wantsAll: known.wantsAll))
        }
    }

    /// Meters whose holder must hear again that somebody watches: those that have waited longest, and so many only that
    /// they find room among the events that wait for one host.
    func due(at now: MonotonicTime) -> [MeterPlace] {
        state.withLock { state in
            state.meters.filter { $0.value.isInterestDue(at: now) }
                .sorted { ($0.value.interestAt ?? .origin, $0.key) < ($1.value.interestAt ?? .origin, $1.key) }
                .prefix(Self.dueAtOnce).map(\.key)
        }
    }

    /// The watched meters that a host has, and whether somebody wants every reading of it.
    func watched(of host: HostID, in zone: String) -> [(MeterPlace, wantsAll: Bool)] {
        state.withLock { state in
            state.meters.filter { $0.key.zone == zone && $0.value.lease?.holder?.host == host }
                .sorted { $0.key < $1.key }.map { ($0.key, $0.value.wantsAll) }
        }
    }

    /// Tells all who watch a meter.
    func tell(_ body: RelayEventBody, of place: MeterPlace) {
        let event = RelayEvent(body)
        state.withLock { state in
            guard let watched = state.meters[place] else { return }
            let numbered = RelaySubscription.Numbered(event: event, before: watched.told)
            state.meters[place]?.told += event.measurements
            for watcher in watched.watchers.values { watcher.continuation.yield(numbered) }
        }
    }

    /// Tells all who watch a meter that a host without its lease sent readings; not again and again.
    func tellRefusal(of host: String, of place: MeterPlace, at now: MonotonicTime) {
        let isDue = state.withLock { state in
            guard let watched = state.meters[place],
                watched.refusalAt.map({ now - $0 >= Self.refusalInterval }) ?? true
            else { return false }
            state.meters[place]?.refusalAt = now
            return true
        }
        if isDue { tell(RelayEventBody(refused: host), of: place) }
    }

    /// Sends a ping to all who watch anything.
    func tellTime(_ time: WallTime) {
        let body = RelayEventBody(serverTime: time.millisecondsSince1970)
        for place in state.withLock({ Array($0.meters.keys) }) { tell(body, of: place) }
    }

    /// Ends the streams opened with this credential.
    func end(credential: String) { endAll { _, watcher in watcher.credential == credential } }

    /// Ends the streams of all who watch a meter.
    func end(_ place: MeterPlace) { endAll { other, _ in other == place } }

    /// Refuses new watchers, and ends all streams.
    func close() {
        state.withLock { $0.isClosed = true }
        endAll { _, _ in true }
    }

    private func endAll(where isMeant: (MeterPlace, Watcher) -> Bool) {
        let meant = state.withLock { state in
            state.meters.flatMap { place, watched in watched.watchers.values.filter { isMeant(place, $0) } }
        }
        // Each removes itself.
        for watcher in meant { watcher.continuation.finish() }
    }
}

import CloudAPI
import Domain
import Synchronization

/// Watchers of meters at this replica, and meters watched at other replicas. Nothing is stored.
final class RelayHub: Sendable {
    private struct Watcher {
        var continuation: AsyncStream<RelaySubscription.Numbered>.Continuation
        var credential: String
        var wantsAll: Bool
    }

    private struct OtherReplica {
        var wantsAll: Bool
        /// Time until which the other replica wants the meter's readings, unless renewed.
        var until: MonotonicTime
    }

    private struct Watched {
        var watchers: [UInt64: Watcher] = [:]
        var copies: [ReplicaID: OtherReplica] = [:]
        var told = 0
        var lease: LeaseRecord?
        var isLeaseKnown = false
        var interestAt: MonotonicTime?
        var refusalAt: MonotonicTime?
        var lookedAt = MonotonicTime.origin

        func isInterestDue(at now: MonotonicTime) -> Bool {
            interestAt.map { now - $0 >= RelayTimes.interestRepeat } ?? true
        }

        func isLookDue(at now: MonotonicTime) -> Bool { now - lookedAt >= RelayTimes.interestRepeat }

        var isIdle: Bool { watchers.isEmpty && copies.isEmpty }
        var watchersWantAll: Bool { watchers.values.contains(where: \.wantsAll) }
        var wantsAll: Bool { watchersWantAll || copies.values.contains(where: \.wantsAll) }
    }

    struct Interest: Hashable {
        var holder: HostID
        var wantsAll: Bool
    }

    private struct State {
        var meters: [MeterPlace: Watched] = [:]
        var held: [HostPlace: Set<String>] = [:]
        var counts: [String: Int] = [:]
        var nextID: UInt64 = 0
        var isClosed = false

        mutating func set(_ watched: Watched, at place: MeterPlace) {
            if meters.updateValue(watched, forKey: place) == nil { counts[place.zone, default: 0] += 1 }
        }

        mutating func setLease(_ lease: LeaseRecord?, at place: MeterPlace) {
            note(meters[place]?.lease, at: place) { $0.remove($1) }
            note(lease, at: place) { $0.insert($1) }
            meters[place]?.lease = lease
            meters[place]?.isLeaseKnown = true
        }

        private mutating func note(
            _ lease: LeaseRecord?, at place: MeterPlace, _ change: (inout Set<String>, String) -> Void
        ) {
            guard let host = lease?.holder?.host else { return }
            let key = HostPlace(zone: place.zone, host: host)
            change(&held[key, default: []], place.meter)
            if held[key]?.isEmpty == true { held[key] = nil }
        }

        /// - Returns: the meter's holder, to be informed. Nil if the meter still has watchers, or has no holder.
        mutating func forget(_ place: MeterPlace) -> HostID? {
            guard meters[place]?.isIdle == true, let gone = meters.removeValue(forKey: place) else { return nil }
            note(gone.lease, at: place) { $0.remove($1) }
            counts[place.zone] = counts[place.zone].flatMap { $0 > 1 ? $0 - 1 : nil }
            return gone.lease?.holder?.host
        }

        /// - Returns: the affected meters, with the holders of those without watchers left.
        mutating func remove(
            where isGone: (MeterPlace, ReplicaID, OtherReplica) -> Bool
        ) -> [(place: MeterPlace, holder: HostID?)] {
            var gone: [(place: MeterPlace, holder: HostID?)] = []
            for place in meters.keys.sorted() {
                let leaving = meters[place]?.copies.filter { isGone(place, $0.key, $0.value) }.map(\.key) ?? []
                for copy in leaving { meters[place]?.copies[copy] = nil }
                if !leaving.isEmpty { gone.append((place, forget(place))) }
            }
            return gone
        }
    }

    /// Minimum interval between reports to watchers about a host that sends readings without the lease.
    private static let refusalInterval = Duration.seconds(10)

    /// Maximum number of interest events at once for one holder, so that they fit into its event queue.
    private static let duePerHolder = EventBuffer.waitingMax / 4
    /// Maximum number of interest events at once for one zone. They are sent every second, so each watched meter of the
    /// zone gets one within 30 s, the duration of an interest.
    private static let duePerZone = 2 * duePerHolder + CloudLimits.watchedPerZone / 30

    /// Held while an event is sent, so that all watchers receive events in the same order.
    private let telling = Mutex(())
    /// Never resume a watcher under this lock: cancellation already holds the task lock, and resuming locks it too
    /// (`withTaskCancellationHandler`, "Cancellation handlers and locks"). Locked after `telling`.
    private let state = Mutex(State())
    private let ended: @Sendable (MeterPlace, HostID) -> Void
    private let changed: @Sendable () -> Void

    init(ended: @escaping @Sendable (MeterPlace, HostID) -> Void, changed: @escaping @Sendable () -> Void) {
        self.ended = ended
        self.changed = changed
    }

    /// - Throws: `serviceUnavailable` once the hub is closed, `limitExceeded`.
    func watch(
        _ place: MeterPlace, credential: String, wantsAll: Bool, first: RelayEventBody
    ) throws(CloudFailure) -> RelaySubscription {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RelaySubscription.Numbered.self, bufferingPolicy: .bufferingNewest(RelaySubscription.waitingMax))
        let watcher = Watcher(continuation: continuation, credential: credential, wantsAll: wantsAll)
        let (told, isNews) = try telling.withLock { _ throws(CloudFailure) in
            let added = try add(watcher, to: place)
            continuation.yield(RelaySubscription.Numbered(event: RelayEvent(first), before: added.told))
            return added
        }
        if isNews { changed() }
        return RelaySubscription(stream: stream, first: told)
    }

    /// - Returns: number of measurements sent so far, and whether to inform other replicas of this watcher.
    private func add(_ watcher: Watcher, to place: MeterPlace) throws(CloudFailure) -> (told: Int, isNews: Bool) {
        try state.withLock { state throws(CloudFailure) in
            guard !state.isClosed else { throw .stopping }
            let count = state.meters[place]?.watchers.count ?? 0
            guard count < CloudLimits.watchersPerMeter else {
                throw CloudFailure(
                    .limitExceeded, "\(count) hosts watch \(place.meter) here already; ask again later",
                    retryAfter: .seconds(30))
            }
            guard state.meters[place] != nil || state.counts[place.zone] ?? 0 < CloudLimits.watchedPerZone else {
                throw CloudFailure(
                    .limitExceeded,
                    "\(CloudLimits.watchedPerZone) meters of \(place.zone) are watched here already; ask again later",
                    retryAfter: .seconds(30))
            }
            state.nextID += 1
            let id = state.nextID
            watcher.continuation.onTermination = { [weak self] _ in self?.remove(id, from: place) }
            var watched = state.meters[place] ?? Watched()
            // For the first watcher that wants every reading, an interest event is due.
            if watcher.wantsAll, !watched.wantsAll { watched.interestAt = nil }
            let isNews = watched.watchers.isEmpty || watcher.wantsAll && !watched.watchersWantAll
            watched.watchers[id] = watcher
            state.set(watched, at: place)
            return (watched.told, isNews)
        }
    }

    private func remove(_ id: UInt64, from place: MeterPlace) {
        let (left, isNews) = state.withLock { state -> (HostID?, Bool) in
            guard let gone = state.meters[place]?.watchers.removeValue(forKey: id) else { return (nil, false) }
            let left = state.meters[place]
            let isNews = left?.watchers.isEmpty == true || gone.wantsAll && left?.watchersWantAll == false
            return (state.forget(place), isNews)
        }
        if isNews { changed() }
        if let left { ended(place, left) }
    }

    // MARK: Other replicas

    var watchedHere: [ReplicaWatch] {
        state.withLock { state in
            let watched = state.meters.filter { !$0.value.watchers.isEmpty }
            // Take meters from each zone in turn, so that the limit does not cut off a zone with few meters.
            let ranked = Dictionary(grouping: watched.keys, by: \.zone).values
                .flatMap { $0.sorted().enumerated().map { (rank: $0.offset, place: $0.element) } }
                .sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }
            return ranked.prefix(CloudLimits.copyWatches).map { _, place in
                let wantsAll = watched[place]?.watchersWantAll == true
                return ReplicaWatch(zone: place.zone, meter: place.meter, all: wantsAll ? true : nil)
            }
        }
    }

    /// Stores the full list of meters watched at another replica, each with whether a watcher wants every reading.
    ///
    /// - Returns: the meters for which more readings are wanted than before.
    func setWatched(_ places: [MeterPlace: Bool], at copy: ReplicaID, until: MonotonicTime) -> [MeterPlace] {
        let (new, gone) = state.withLock { state -> ([MeterPlace], [(MeterPlace, HostID?)]) in
            var new: [MeterPlace] = []
            for (place, wantsAll) in places {
                var watched = state.meters[place] ?? Watched()
                if watched.copies[copy].map({ wantsAll && !$0.wantsAll }) ?? true {
                    new.append(place)
                    if watched.isIdle || wantsAll && !watched.wantsAll { watched.interestAt = nil }
                }
                watched.copies[copy] = OtherReplica(wantsAll: wantsAll, until: until)
                state.set(watched, at: place)
            }
            let gone = state.remove { place, other, _ in other == copy && places[place] == nil }
            return (new.sorted(), gone)
        }
        tellEnded(gone)
        return new
    }

    func passed(_ now: MonotonicTime) { tellEnded(state.withLock { $0.remove { _, _, other in other.until <= now } }) }

    func forget(_ copy: ReplicaID) { tellEnded(state.withLock { $0.remove { _, other, _ in other == copy } }) }

    func copies(watching place: MeterPlace) -> [ReplicaID] {
        state.withLock { $0.meters[place]?.copies.keys.sorted() ?? [] }
    }

    private func tellEnded(_ gone: [(place: MeterPlace, holder: HostID?)]) {
        for (place, holder) in gone {
            if let holder { ended(place, holder) }
        }
    }

    func isWatched(_ place: MeterPlace) -> Bool { state.withLock { $0.meters[place] != nil } }

    var watcherCount: Int { state.withLock { $0.meters.values.reduce(0) { $0 + $1.watchers.count } } }

    func lease(of place: MeterPlace) -> LeaseRecord? { state.withLock { $0.meters[place]?.lease } }

    /// Stores the meter's lease.
    ///
    /// - Returns: whether the watchers must receive the lease, and the interest event that is due. Nil without
    ///   watchers, or if a newer lease is known.
    func update(
        _ lease: LeaseRecord?, of place: MeterPlace, at now: MonotonicTime
    ) -> (isNews: Bool, interest: Interest?)? {
        state.withLock { state in
            guard let known = state.meters[place] else { return nil }
            // Reports may overtake each other: the lease with the greater fencing token is newer.
            if let old = known.lease, let new = lease, new.token < old.token { return nil }
            let isNews =
                known.isLeaseKnown
                && (known.lease?.token != lease?.token || known.lease?.state != lease?.state)
            state.setLease(lease, at: place)
            guard let holder = lease?.holder?.host else { return (isNews, nil) }
            guard isNews || known.isInterestDue(at: now) else { return (isNews, nil) }
            state.meters[place]?.interestAt = now
            return (isNews, Interest(holder: holder, wantsAll: known.wantsAll))
        }
    }

    /// Returns the meters for which an interest event is due, longest wait first, limited for each zone and each
    /// holder.
    func due(at now: MonotonicTime) -> [MeterPlace] {
        state.withLock { state in
            var (zones, holders): ([String: Int], [HostPlace: Int]) = ([:], [:])
            let waiting = state.meters.filter { _, watched in
                watched.isInterestDue(at: now) && (watched.lease?.holder != nil || watched.isLookDue(at: now))
            }
            let due = waiting.sorted { ($0.value.lookedAt, $0.key) < ($1.value.lookedAt, $1.key) }.map(\.key)
                .filter { place in
                    guard zones[place.zone, default: 0] < Self.duePerZone else { return false }
                    if let host = state.meters[place]?.lease?.holder?.host {
                        let holder = HostPlace(zone: place.zone, host: host)
                        guard holders[holder, default: 0] < Self.duePerHolder else { return false }
                        holders[holder, default: 0] += 1
                    }
                    zones[place.zone, default: 0] += 1
                    return true
                }
            for place in due { state.meters[place]?.lookedAt = now }
            return due
        }
    }

    func watched(of host: HostID, in zone: String) -> [(MeterPlace, wantsAll: Bool)] {
        state.withLock { state in
            (state.held[HostPlace(zone: zone, host: host)] ?? []).sorted().compactMap { meter in
                let place = MeterPlace(zone: zone, meter: meter)
                return state.meters[place].map { (place, $0.wantsAll) }
            }
        }
    }

    func tell(_ body: RelayEventBody, of place: MeterPlace) {
        let event = RelayEvent(body)
        telling.withLock { _ in
            let watched = state.withLock { state in
                defer { state.meters[place]?.told += event.measurements }
                return state.meters[place]
            }
            guard let watched else { return }
            let numbered = RelaySubscription.Numbered(event: event, before: watched.told)
            for watcher in watched.watchers.values { watcher.continuation.yield(numbered) }
        }
    }

    /// Informs watchers, at most every `refusalInterval`, that a host without the lease sent readings.
    ///
    /// - Returns: the event; nil if none was due.
    func tellRefusal(of host: String, of place: MeterPlace, at now: MonotonicTime) -> RelayEventBody? {
        let isDue = state.withLock { state in
            guard let watched = state.meters[place],
                watched.refusalAt.map({ now - $0 >= Self.refusalInterval }) ?? true
            else { return false }
            state.meters[place]?.refusalAt = now
            return true
        }
        guard isDue else { return nil }
        let event = RelayEventBody(refused: host)
        tell(event, of: place)
        return event
    }

    func tellTime(_ time: WallTime) {
        let body = RelayEventBody(serverTime: time.millisecondsSince1970)
        for place in state.withLock({ Array($0.meters.keys) }) { tell(body, of: place) }
    }

    func end(credential: String) { endAll { _, watcher in watcher.credential == credential } }

    func end(_ place: MeterPlace) {
        state.withLock { state in _ = state.remove { other, _, _ in other == place } }
        endAll { other, _ in other == place }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        endAll { _, _ in true }
    }

    private func endAll(where isMeant: (MeterPlace, Watcher) -> Bool) {
        let meant = state.withLock { state in
            state.meters.flatMap { place, watched in watched.watchers.values.filter { isMeant(place, $0) } }
        }
        for watcher in meant { watcher.continuation.finish() }
    }
}

package import Domain
package import Logging

/// Watches other hosts' meters. Viewers of one meter share one stream, or two if some want every reading.
package actor RelayWatcher {
    private struct Key: Hashable {
        var meter: MeterID
        var wantsAll: Bool
    }

    private struct Watched {
        let feed: Feed<WatchedReading>
        let begunAt: MonotonicTime
        var observer = RelayObserver()
        var task: Task<Void, Never>?
        /// Name of a holder that does not share its readings; nil otherwise.
        var unshared: String?
        var state: String?
        var latest: (reading: WatchedReading, time: MonotonicTime)?
        /// Time until which the stream is kept for callers that need only the last reading.
        var isGlancedAtUntil = MonotonicTime.origin
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// First and longest pause before a broken stream is reopened.
    private static let retries = Duration.seconds(1)...Duration.seconds(16)

    /// Maximum number of meters watched only for their last readings, because each needs a connection to the cloud.
    static let glancesMax = 64

    private nonisolated let loop: any SessionLoop
    private let link: any RelayLink
    private let host: HostID
    private let logger: Logger
    private let changes: ChangeMarks
    private var watched: [Key: Watched] = [:]
    private var isOver = false

    package init(
        link: any RelayLink, host: HostID, changes: ChangeMarks = ChangeMarks(), loop: any SessionLoop, logger: Logger
    ) {
        self.changes = changes
        self.link = link
        self.host = host
        self.loop = loop
        self.logger = logger
    }

    /// Returns a meter's readings whenever another host has it, until `shutdown`.
    ///
    /// - Parameter wantsAll: false to get means of several readings.
    package func watch(_ meter: MeterID, wantsAll: Bool) -> Feed<WatchedReading>.Subscription {
        let key = Key(meter: meter, wantsAll: wantsAll)
        let feed = watched[key]?.feed ?? Feed<WatchedReading>()
        let subscription = feed.subscribe()
        guard !isOver else {
            feed.finish()
            return subscription
        }
        begin(key, feed)
        return subscription
    }

    /// Returns meters' last readings with their ages. Keeps streams of the first `glancesMax` meters open for a short
    /// time.
    ///
    /// - Parameter patience: longest wait for a meter's first reading, counted from the start of its stream.
    package func latest(
        of meters: [MeterID], within patience: Duration
    ) async -> [MeterID: (WatchedReading, Duration)] {
        guard !isOver else { return [:] }
        let keys = meters.map { Key(meter: $0, wantsAll: false) }
        for key in keys.prefix(Self.glancesMax) {
            begin(key, watched[key]?.feed ?? Feed())
            watched[key]?.isGlancedAtUntil = loop.now + RelayTiming.interest
        }
        while keys.contains(where: { isAwaited($0, patience) }) { await pause(.milliseconds(20)) }
        var found: [MeterID: (WatchedReading, Duration)] = [:]
        for key in keys {
            guard let latest = watched[key]?.latest else { continue }
            found[key.meter] = (latest.reading, loop.now - latest.time)
        }
        return found
    }

    package func unshared(among meters: [MeterID]) -> [MeterID: String] {
        var hosts: [MeterID: String] = [:]
        for meter in meters { hosts[meter] = watched[Key(meter: meter, wantsAll: false)]?.unshared }
        return hosts
    }

    package func states(of meters: [MeterID]) -> [MeterID: String] {
        var states: [MeterID: String] = [:]
        for meter in meters { states[meter] = watched[Key(meter: meter, wantsAll: false)]?.state }
        return states
    }

    private func isAwaited(_ key: Key, _ patience: Duration) -> Bool {
        guard let entry = watched[key], entry.latest == nil, entry.unshared == nil else { return false }
        return loop.now < entry.begunAt + patience
    }

    private func begin(_ key: Key, _ feed: Feed<WatchedReading>) {
        guard watched[key] == nil else { return }
        watched[key] = Watched(
            feed: feed, begunAt: loop.now, task: Task { await self.follow(key) })
    }

    package var count: Int { watched.count }

    package func shutdown() {
        isOver = true
        for key in watched.keys { end(key) }
    }

    private func end(_ key: Key) {
        guard let ended = watched.removeValue(forKey: key) else { return }
        ended.task?.cancel()
        ended.feed.finish()
    }

    private func follow(_ key: Key) async {
        var wait = Self.retries.lowerBound
        while isWanted(key) {
            do {
                for try await news in link.watch(key.meter, wantsAll: key.wantsAll) {
                    guard isWanted(key) else { return }
                    wait = Self.retries.lowerBound
                    handle(news, key)
                }
            } catch {
                if wait == Self.retries.lowerBound {
                    logger.info(
                        "relayed readings interrupted: retrying",
                        metadata: ["meter.id": "\(key.meter)", "cause": "\(error)"])
                }
            }
            guard isWanted(key) else { return }
            await pause(wait)
            wait = min(wait * 2, Self.retries.upperBound)
        }
    }

    /// Returns whether the stream has viewers or is kept for `latest`; removes it otherwise.
    private func isWanted(_ key: Key) -> Bool {
        guard let entry = watched[key], !Task.isCancelled else { return false }
        guard !entry.feed.hasListeners, entry.isGlancedAtUntil < loop.now else { return true }
        watched[key] = nil
        return false
    }

    private func handle(_ news: RelayNews, _ key: Key) {
        if case .ping = news {} else { changes.mark(.zone) }
        switch news {
        case .readings(let arrival):
            guard case .show(let missed)? = watched[key]?.observer.received(arrival), arrival.holder != host else {
                return
            }
            guard arrival.batch.isShared else {
                watched[key]?.unshared = arrival.holderName
                watched[key]?.latest = nil
                return
            }
            watched[key]?.unshared = nil
            watched[key]?.state = arrival.batch.state
            // A batch without readings cannot carry the number of lost readings, so report it with the next reading.
            if arrival.batch.readings.isEmpty { watched[key]?.observer.lost(missed) }
            let now = loop.wallNow
            let origin = WatchedReading.Origin(
                holder: arrival.holderName, token: arrival.token, model: arrival.batch.model)
            for (index, reading) in arrival.batch.readings.enumerated() {
                let shown = WatchedReading(
                    wallTime: now + (.zero - reading.age), reading: reading.reading, spread: reading.spread,
                    origin: origin, missed: index == 0 ? missed : 0)
                watched[key]?.latest = (shown, loop.now + (.zero - reading.age))
                watched[key]?.feed.yield(shown)
            }
        case .lost(let count): watched[key]?.observer.lost(count)
        case .refused(let name):
            logger.warning(
                "meter used without lease by another host",
                metadata: ["meter.id": "\(key.meter)", "host": "\(name)"])
        // If this host became the holder, its viewers switch to its own readings (`MeterReadings`).
        case .holder(let lease):
            // The stored state and refusal to share belong to the former holder.
            watched[key]?.unshared = nil
            watched[key]?.state = nil
            if lease.holder == host { end(key) }
        case .ping: break
        }
    }

    func pause(_ time: Duration) async {
        let loop = loop
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let timer = loop.schedule(at: loop.now + time) { continuation.finish() }
        for await _ in stream {}
        loop.cancel(timer)
    }
}

package import Domain
package import GatewayAPI
package import Logging
import Synchronization

/// Collects readings in memory and writes them to the store every `flushInterval`, or earlier if there are many, to
/// spare an SD card.
///
/// While the store fails, the recorder keeps readings and retries; beyond `keptBytesMax` it drops and counts the
/// oldest. A clean stop writes everything; a power cut loses at most `flushInterval`.
package final class SampleRecorder: MeterKeeping {
    package struct Limits: Hashable, Sendable {
        package var flushInterval: Duration = .seconds(60)
        var chunkReadingsMax = 1024
        /// Maximum bytes of readings kept while the store fails.
        var keptBytesMax = 8 << 20
        package var retryInterval: Duration = .seconds(5)
        var pruneInterval: Duration = .seconds(3600)
        package var retention = SampleRetention()
        package var maxBytes: Int64 = 2 << 30

        package init() {}
    }

    private struct State {
        var pending: [SampleChunk] = []
        var unwanted: Set<MeterID> = []
        var saved = 0
        var dropped = 0
        var error: String?
        /// Sizes of the store and its largest part besides readings; nil if the store was within its limit at the last
        /// check.
        var crowding: DiskUsage?
    }

    private let state = Mutex(State())
    package let meters: Meters
    private let repository: any SampleRepository
    private let tiers: (any TierRepository)?
    private let space: (any SpaceRepository)?
    private let counts: EnergyCounts?
    private let calendar: RetentionCalendar?
    private let loop: any SessionLoop
    private let limits: Limits
    private let changes: ChangeMarks
    private let logger: Logger
    private let wake: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - space: finds the store's largest part besides readings; nil means no warnings about the store's size.
    ///   - calendar: returns the date for retention by age; nil means the loop's system clock, for tests.
    package init(
        meters: Meters, repository: any SampleRepository, tiers: (any TierRepository)? = nil,
        space: (any SpaceRepository)? = nil,
        counts: EnergyCounts? = nil,
        calendar: RetentionCalendar? = nil, loop: any SessionLoop, limits: Limits = Limits(),
        changes: ChangeMarks = ChangeMarks(), logger: Logger
    ) {
        self.meters = meters
        self.changes = changes
        self.space = space
        self.counts = counts
        self.repository = repository
        self.tiers = tiers
        self.calendar = calendar
        self.loop = loop
        self.limits = limits
        self.logger = logger
        (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func track(for meter: MeterID) -> SampleBuffer {
        meters.take(meter) {
            SampleBuffer(meter: meter, readingsMax: limits.chunkReadingsMax) { [wakeUp] in
                wakeUp.yield()
            } rest: { [weak self] chunks in
                self?.state.withLock { $0.pending += chunks }
            }
        }
    }

    package func run() async {
        let flushing = FlushTimer(loop: loop, wakeUp: wakeUp)
        flushing.start(every: limits.flushInterval)
        var nextPrune = loop.now
        for await _ in wake {
            if flushing.isDue() || state.withLock({ !$0.pending.isEmpty }) { collect() } else { collectFull() }
            if await !write() { flushing.retry(after: limits.retryInterval) }
            if loop.now >= nextPrune {
                nextPrune = loop.now + limits.pruneInterval
                let today = await today()
                await condense(today)
                await prune(today)
                await lookAtSpace()
            }
        }
        flushing.stop()
        collect(isOver: true)
        if await !write() {
            let unsaved = status(path: "").unsaved
            logger.error("unsaved readings lost at shutdown", metadata: ["readings": "\(unsaved)"])
        }
    }

    /// Makes `run` write everything and return. Cancelling its task instead would also cancel the last write.
    package func finish() { wakeUp.finish() }

    package func status(path: String) -> StoreStatus {
        state.withLock { state in
            let waiting = tracks.reduce(0) { $0 + $1.count } + state.pending.reduce(0) { $0 + $1.count }
            return StoreStatus(
                path: path, unsaved: waiting, saved: state.saved, dropped: state.dropped, error: state.error,
                crowding: state.crowding.map { "\($0)" })
        }
    }

    private var tracks: [SampleBuffer] { meters.parts() }

    private func collect(isOver: Bool = false) {
        state.withLock { state in
            for track in tracks.sorted(by: { $0.meter < $1.meter }) { state.pending += track.takeAll(isOver: isOver) }
        }
    }

    private func collectFull() {
        state.withLock { state in
            for track in tracks { state.pending += track.takeFull() }
        }
    }

    /// - Returns: false if the store failed; the readings are kept.
    private func write() async -> Bool {
        let batch = state.withLock { state in
            // Not during a write: the chunks being written must remain the first in `pending`.
            if !state.unwanted.isEmpty { state.pending.removeAll { state.unwanted.contains($0.meter) } }
            state.unwanted = []
            return state.pending
        }
        guard !batch.isEmpty else { return true }
        let counts = counts?.changes() ?? [:]
        do {
            try await calendar?.willStore(batch.map { $0.first...max($0.first, $0.last) })
            try await repository.append(batch, keeping: counts)
        } catch {
            self.counts?.putBack(counts)
            keep(after: error)
            return false
        }
        self.counts?.wereWritten(counts)
        let recovered = state.withLock { state in
            state.pending.removeFirst(batch.count)
            state.saved += batch.reduce(0) { $0 + $1.count }
            defer { state.error = nil }
            return state.error != nil
        }
        if recovered {
            changes.mark(.host)
            logger.notice("storage of readings resumed")
        }
        return true
    }

    private func keep(after error: any Error) {
        let dropped = state.withLock { state in
            var dropped = 0
            var bytes = state.pending.reduce(0) { $0 + $1.bytes.count }
            while bytes > limits.keptBytesMax, let oldest = state.pending.first {
                bytes -= oldest.bytes.count
                dropped += oldest.count
                state.pending.removeFirst()
            }
            state.dropped += dropped
            state.error = "\(error)"
            return dropped
        }
        changes.mark(.host)
        logger.error("readings not stored: retrying", metadata: ["cause": "\(error)", "dropped": "\(dropped)"])
    }

    /// Deletes the meter's stored and pending readings if `isDropped`; otherwise writes the pending ones.
    package func forget(_ meter: MeterID, readings isDropped: Bool) async throws -> Int {
        if isDropped { state.withLock { _ = $0.unwanted.insert(meter) } }
        wakeUp.yield()
        return isDropped ? try await repository.deleteReadings(of: meter) : 0
    }

    package func waiting(of meter: MeterID) -> [SampleChunk] {
        state.withLock { state in
            state.pending.filter { $0.meter == meter }
                + (meters.part(SampleBuffer.self, of: meter)?.copyAll() ?? [])
        }
    }

    private func today() async -> WallTime? {
        guard let calendar else { return loop.wallNow }
        do {
            return try await calendar.today()
        } catch {
            logger.warning("retention by age paused", metadata: ["cause": "\(error)"])
            return nil
        }
    }

    private func condense(_ today: WallTime?) async {
        guard let tiers else { return }
        do {
            while try await tiers.rollUp() > 0 {}
            guard let today else { return }
            let cutoff = today + (.zero - limits.retention.single)
            var thinned = 0
            while case let count = try await tiers.thin(before: cutoff), count > 0 { thinned += count }
            if thinned > 0 {
                logger.info(
                    "old readings compacted",
                    metadata: ["readings": "\(thinned)", "before": "\(cutoff)", "believed_date": "\(today)"])
            }
            try await tiers.expire(.second, before: today + (.zero - limits.retention.seconds))
            try await tiers.expire(.minute, before: today + (.zero - limits.retention.minutes))
        } catch {
            logger.warning("readings not aggregated", metadata: ["cause": "\(error)"])
        }
    }

    /// Warns if the store exceeds its limit although readings were deleted, and names its largest part besides
    /// readings. Repeats the warning only if that part changes.
    private func lookAtSpace() async {
        guard let space else { return }
        let crowding: DiskUsage?
        do {
            crowding = try await space.crowding(maxBytes: limits.maxBytes)
        } catch {
            return logger.warning("store size not determined", metadata: ["cause": "\(error)"])
        }
        let before = state.withLock { state in
            defer { state.crowding = crowding }
            return state.crowding
        }
        if crowding != before { changes.mark(.host) }
        guard crowding?.part != before?.part else { return }
        if let crowding {
            logger.warning("store exceeds its size limit", metadata: ["cause": "\(crowding)"])
        } else {
            logger.notice("store is within its size limit again", metadata: ["max_bytes": "\(limits.maxBytes)"])
        }
    }

    /// Deletes readings beyond the limits of age and size. A nil date skips the age limit.
    private func prune(_ today: WallTime?) async {
        do {
            let cutoff = today.map { $0 + (.zero - limits.retention.seconds) } ?? WallTime(millisecondsSince1970: .min)
            let pruned = try await repository.prune(before: cutoff, maxBytes: limits.maxBytes)
            guard pruned > 0 else { return }
            logger.notice(
                "old readings deleted",
                metadata: [
                    "readings": "\(pruned)", "before": "\(cutoff)",
                    "believed_date": "\(today?.description ?? "unknown")",
                    "max_bytes": "\(limits.maxBytes)",
                ])
        } catch {
            logger.warning("old readings not deleted", metadata: ["cause": "\(error)"])
        }
    }
}

package import Domain
package import Logging
import Synchronization

/// Keeps the logs of this host's meters: periods in which it had them, connection states, commands, alerts and adapter
/// repairs (Docs/Relay.md#the-meters-log).
///
/// Writes every `flushInterval` and at a clean stop, so that an SD card receives few writes. Callable from any thread;
/// fast.
package final class LogKeeper: MeterKeeping {
    /// One meter's log. Change only under the lock of `state`.
    private final class Track: MeterPart {
        let meter: MeterID
        /// Nil if all lines are written and no event can fold into them.
        let fold = Mutex<LogFold?>(nil)

        init(_ meter: MeterID) { self.meter = meter }

        var isNeeded: Bool { fold.withLock { $0 != nil } }
    }

    private struct State {
        var lastNumber: Int64 = 0
        /// Whether the last write failed; meterd's log reports only the first failure.
        var isFailing = false
    }

    /// Maximum time since a line's last occurrence, by the date of `RetentionCalendar`.
    package static let keptFor = Duration.seconds(90 * 86_400)
    /// Maximum number of lines per meter. A line takes about 150 bytes.
    package static let linesMax = 2000
    private static let pruneInterval = Duration.seconds(3600)
    private static let retryInterval = Duration.seconds(5)

    private let state = Mutex(State())
    private let meters: Meters
    private let repository: any LogRepository
    private let calendar: RetentionCalendar?
    private let loop: any SessionLoop
    private let flushInterval: Duration
    private let logger: Logger
    private let wake: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    /// - Parameter calendar: source of the date for deletion by age; if nil (in tests), the loop's wall clock.
    package init(
        meters: Meters, repository: any LogRepository, calendar: RetentionCalendar? = nil, loop: any SessionLoop,
        flushInterval: Duration = .seconds(60), logger: Logger
    ) {
        self.meters = meters
        self.repository = repository
        self.calendar = calendar
        self.loop = loop
        self.flushInterval = flushInterval
        self.logger = logger
        (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Ends `LogHolding` periods left open by the last run. Call once, before any meter's session starts.
    package func restore() async throws {
        try await repository.endHoldings(.stopped)
        let last = try await repository.lastLogNumber()
        state.withLock { $0.lastNumber = max($0.lastNumber, last) }
    }

    // MARK: What happens

    /// - Parameter isWanted: if false, appearing and vanishing are not logged, because radios receive neighbours'
    ///   meters all day.
    func stateChanged(
        of meter: MeterID, from before: ConnectionState, to state: ConnectionState, because cause: String,
        isWanted: Bool
    ) {
        let idle: [ConnectionState] = [.offline, .notConnected]
        guard isWanted || !idle.contains(before) || !idle.contains(state) else { return }
        change(meter) { fold, now, last in
            fold.stateChanged(from: before, to: state, because: cause, at: now, &last)
        }
    }

    func held(_ meter: MeterID, _ token: FencingToken?, over transport: LeaseTransport) {
        change(meter) { fold, now, last in fold.held(token, over: transport, at: now, &last) }
    }

    func letGo(_ meter: MeterID, _ end: LogHolding.End) {
        change(meter) { fold, now, _ in fold.letGo(end, at: now) }
    }

    func remedied(_ meter: MeterID, _ remedy: AdapterRemedy) {
        change(meter) { fold, now, last in
            fold.remedied(remedy.words, of: remedy.adapter, because: remedy.cause, at: now, &last)
        }
    }

    func alerted(_ meter: MeterID, _ title: String, outcome: String) {
        change(meter) { fold, now, last in fold.alerted(title, outcome: outcome, at: now, &last) }
    }

    /// Runs a command and logs its outcome.
    ///
    /// - Parameters:
    ///   - what: the command as typed after `meterctl`.
    ///   - order: the command if it goes to the meter; without the meter's confirmation, its outcome is `sent`.
    package func logging<Value>(
        _ what: String, of meter: MeterID, by author: LogAuthor, sending order: MeterCommand? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(GatewayError) -> Value
    ) async throws(GatewayError) -> Value {
        let isConfirmed =
            if let order { await meters.session(of: meter)?.confirms(order.kind) == true } else { true }
        do throws(GatewayError) {
            let value = try await body()
            commanded(meter, what, by: author, outcome: isConfirmed ? "done" : "sent")
            return value
        } catch {
            commanded(meter, what, by: author, outcome: error.message)
            throw error
        }
    }

    private func commanded(_ meter: MeterID, _ what: String, by author: LogAuthor, outcome: String) {
        change(meter) { fold, now, last in fold.commanded(what, by: author, outcome: outcome, at: now, &last) }
    }

    private func change(_ meter: MeterID, _ body: (inout LogFold, HostMoment, inout Int64) -> Void) {
        let now = moment
        state.withLock { state in
            meters.use(meter) {
                Track(meter)
            } _: { track in
                track.fold.withLock { fold in
                    var changed = fold.take() ?? LogFold()
                    body(&changed, now, &state.lastNumber)
                    fold = changed
                }
            }
        }
    }

    private var tracks: [Track] { meters.parts() }

    private var moment: HostMoment { HostMoment(wall: loop.wallNow, sinceBoot: loop.now) }

    // MARK: Writing

    package func run() async {
        let flushing = FlushTimer(loop: loop, wakeUp: wakeUp)
        flushing.start(every: flushInterval)
        var nextPrune = loop.now
        for await _ in wake {
            _ = flushing.isDue()
            if await !write() { flushing.retry(after: Self.retryInterval) }
            if loop.now >= nextPrune {
                nextPrune = loop.now + Self.pruneInterval
                await prune()
            }
        }
        flushing.stop()
        _ = await write()
    }

    package func finish() { wakeUp.finish() }

    package var meterCount: Int { tracks.count(where: \.isNeeded) }

    /// - Returns: false if the store failed.
    private func write() async -> Bool {
        let now = moment
        let batch = state.withLock { state in
            tracks.compactMap { track -> (Track, [LogFold.Line])? in
                track.fold.withLock { $0?.settle(at: now, &state.lastNumber) }
                let lines = track.fold.withLock { $0?.unwritten } ?? []
                return lines.isEmpty ? nil : (track, lines)
            }
        }
        do {
            try await write(batch)
        } catch {
            let isNews = state.withLock { state in
                defer { state.isFailing = true }
                return !state.isFailing
            }
            if isNews { logger.error("meter log not written: retrying", metadata: ["cause": "\(error)"]) }
            return false
        }
        state.withLock { state in
            state.isFailing = false
            for (track, lines) in batch { track.fold.withLock { $0?.wrote(lines) } }
            for track in tracks {
                track.fold.withLock { if $0?.isOver(at: now) == true { $0 = nil } }
                meters.dropUnneeded(track.meter)
            }
        }
        return true
    }

    private func write(_ batch: [(Track, [LogFold.Line])]) async throws {
        guard !batch.isEmpty else { return }
        var lines = batch.flatMap { track, lines in
            lines.map { StoredLogLine(number: $0.number, meter: track.meter, entry: $0.entry) }
        }.sorted { $0.number < $1.number }
        try await calendar?.willStore(
            lines.map { line in
                let (first, last) = (line.entry.first.wall, line.entry.last.wall)
                return min(first, last)...max(first, last)
            })
        // Omit lines of a meter that a user deleted during the write.
        let forgotten = Set(batch.filter { !$0.0.isNeeded }.map(\.0.meter))
        lines.removeAll { forgotten.contains($0.meter) }
        try await repository.keepLog(lines, countMax: Self.linesMax)
    }

    private func prune() async {
        do {
            let today = if let calendar { try await calendar.today() } else { loop.wallNow }
            let cutoff = today + (.zero - Self.keptFor)
            let count = try await repository.pruneLog(before: cutoff)
            guard count > 0 else { return }
            logger.info(
                "old meter log lines deleted",
                metadata: ["lines": "\(count)", "before": "\(cutoff)", "believed_date": "\(today)"])
        } catch {
            logger.warning("old meter log lines not deleted", metadata: ["cause": "\(error)"])
        }
    }

    // MARK: Reading

    /// - Parameter ids: all ids of the meter on this host.
    /// - Returns: lines, oldest first.
    package func entries(of ids: [MeterID]) async throws(GatewayError) -> [LogEntry] {
        // Read memory before and after the store, so that no line written meanwhile is missed.
        let before = inMemory(ids)
        let stored = try await GatewayError.doing("reading the log of \(ids.first.map { "\($0)" } ?? "no meter")") {
            try await repository.log(of: ids, limit: Self.linesMax)
        }
        // Lines in memory replace stored ones, because they are newer.
        let entries = Dictionary(stored.map { ($0.number, $0.entry) }, uniquingKeysWith: { $1 })
            .merging(before) { $1 }.merging(inMemory(ids)) { $1 }
        return entries.sorted { $0.key < $1.key }.map(\.value).suffix(Self.linesMax)
    }

    private func inMemory(_ ids: [MeterID]) -> [Int64: LogEntry] {
        let now = moment
        return state.withLock { state in
            var entries: [Int64: LogEntry] = [:]
            for track in ids.compactMap({ meters.part(Track.self, of: $0) }) {
                track.fold.withLock { fold in
                    fold?.settle(at: now, &state.lastNumber)
                    for line in fold?.lines ?? [] { entries[line.number] = line.entry }
                }
            }
            return entries
        }
    }

    package func forget(_ meter: MeterID, readings isDropped: Bool) async throws -> Int {
        state.withLock { _ in meters.part(Track.self, of: meter)?.fold.withLock { $0 = nil } }
        meters.dropUnneeded(meter)
        try await repository.deleteLog(of: meter)
        return 0
    }
}

extension LogKeeper? {
    /// Runs a command, and logs its outcome on a host with a log.
    package func logging<Value>(
        _ what: String, of meter: MeterID, by author: LogAuthor, sending order: MeterCommand? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(GatewayError) -> Value
    ) async throws(GatewayError) -> Value {
        guard let self else { return try await body() }
        return try await self.logging(what, of: meter, by: author, sending: order, body)
    }
}

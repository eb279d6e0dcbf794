package import Domain
package import Logging
import Synchronization

/// Sends this host's unsent readings to a time series database, one batch at a time. After a failure of the server, the
/// backlog is sent later.
package final class InfluxService: Sendable {
    package struct Tags: Hashable, Sendable {
        package var name: String?
        package var model: String?

        package init(name: String? = nil, model: String? = nil) {
            self.name = name
            self.model = model
        }
    }

    package struct Dependencies: Sendable {
        package var series: SeriesService
        package var stored: any StoredMetersRepository
        /// Meters with a session. Their first readings may not be stored yet.
        package var present: @Sendable () -> [MeterID]
        package var tags: @Sendable ([MeterID]) async -> [MeterID: Tags]
        package var sink: any PointSink
        package var journal: any SendJournal
        package var loop: any SessionLoop

        package init(
            series: SeriesService, stored: any StoredMetersRepository, present: @escaping @Sendable () -> [MeterID],
            tags: @escaping @Sendable ([MeterID]) async -> [MeterID: Tags], sink: any PointSink,
            journal: any SendJournal, loop: any SessionLoop
        ) {
            self.series = series
            self.stored = stored
            self.present = present
            self.tags = tags
            self.sink = sink
            self.journal = journal
            self.loop = loop
        }
    }

    private let machine: Mutex<SendMachine>
    private let dependencies: Dependencies
    private let measurement: String
    private let hostName: String
    private let logger: Logger
    private let wake: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation
    private let end: AsyncStream<Void>
    private let endUp: AsyncStream<Void>.Continuation
    private let timer = Mutex<LoopTimer?>(nil)

    /// - Parameter hostName: this host's name, a tag of each point.
    package init(
        _ settings: SendMachine.Settings, measurement: String, hostName: String, _ dependencies: Dependencies,
        logger: Logger
    ) {
        self.dependencies = dependencies
        self.measurement = measurement
        self.hostName = hostName
        self.logger = logger
        (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (end, endUp) = AsyncStream.makeStream()
        var positions: [MeterID: WallTime] = [:]
        do {
            positions = try dependencies.journal.load()
        } catch {
            // Sending readings again is harmless, because the server replaces a point with the same time.
            logger.warning(
                "InfluxDB send progress not loaded: readings are sent again", metadata: ["cause": "\(error)"])
        }
        machine = Mutex(SendMachine(settings, positions: positions))
    }

    package var state: SendMachine { machine.withLock { $0 } }

    /// Sends until `finish`, then cancels the current batch, which the next run sends again.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendAll() }
            group.addTask { [end] in for await _ in end {} }
            await group.next()
            group.cancelAll()
        }
        if let timer = timer.withLock({ $0 }) { dependencies.loop.cancel(timer) }
        save()
    }

    package func finish() { endUp.finish() }

    private func sendAll() async {
        wakeUp.yield()
        for await _ in wake {
            await turn()
            if Task.isCancelled { return }
            let now = dependencies.loop.now
            arm(after: machine.withLock { $0.wait(at: now) } ?? .zero)
        }
    }

    private func arm(after delay: Duration) {
        let loop = dependencies.loop
        let next = loop.schedule(at: loop.now + delay) { [wakeUp] in wakeUp.yield() }
        timer.withLock { $0 = next }
    }

    private func turn() async {
        let loop = dependencies.loop
        guard machine.withLock({ $0.wait(at: loop.now) == nil }) else { return }
        let news: [SendNews]
        do {
            let (batch, lines) = try await collect()
            if batch.points == 0 {
                machine.withLock { $0.idle(batch, at: loop.now) }
                news = []
            } else {
                let answer = await dependencies.sink.send(lines)
                // A cancelled attempt does not show whether the server works.
                if Task.isCancelled, answer != .taken { return }
                news = machine.withLock { $0.answered(answer, to: batch, at: loop.now, loop.wallNow) }
            }
        } catch {
            if Task.isCancelled { return }
            news = machine.withLock { $0.unread("\(error)", at: loop.now) }
        }
        for piece in news { tell(piece) }
        if machine.withLock({ $0.isSaveDue(at: loop.now) }) { save() }
    }

    private func tell(_ news: SendNews) {
        switch news {
        case .interrupted(let trouble):
            logger.warning(
                "readings not sent to InfluxDB", metadata: ["cause": "\(trouble.cause)", "next": "\(trouble.next)"])
        case .resumed: logger.notice("sending to InfluxDB resumed")
        case .rejected(let points, let cause):
            logger.warning("points rejected by InfluxDB", metadata: ["points": "\(points)", "cause": "\(cause)"])
        }
    }

    private func save() {
        let positions = machine.withLock { $0.hasUnsaved ? $0.positions : nil }
        guard let positions else { return }
        do {
            try dependencies.journal.save(positions)
            machine.withLock { $0.saved() }
        } catch {
            logger.warning("InfluxDB send progress not written", metadata: ["cause": "\(error)"])
        }
    }

    // MARK: Reading

    private struct Full: Error {}

    private func collect() async throws -> (SendBatch, [UInt8]) {
        let wall = dependencies.loop.wallNow
        let known = Set(try await dependencies.stored.storedMeters() + dependencies.present())
        let machine = machine.withLock { machine in
            machine.keep(known)
            return machine
        }
        // Oldest backlog first, so that no meter waits for a faster one.
        let meters = known.map { (meter: $0, start: machine.start(of: $0, at: wall)) }
            .sorted { ($0.start, $0.meter) < ($1.start, $1.meter) }
        let tags = await dependencies.tags(meters.map(\.meter))
        var batch = SendBatch()
        var lines: [UInt8] = []
        let end = wall + .seconds(1)
        for (meter, start) in meters where !batch.isFull && start < end {
            let writer = writer(for: meter, tags[meter])
            do {
                try await dependencies.series.pages(of: meter, in: start..<end) { page in
                    for piece in page {
                        guard batch.points < machine.pointsMax else { throw Full() }
                        if writer.append(piece.time, piece.reading, to: &lines) { batch.points += 1 }
                        batch.ends[meter] = max(batch.ends[meter] ?? piece.time, piece.time)
                    }
                }
            } catch is Full {
                batch.isFull = true
            }
        }
        return (batch, lines)
    }

    private func writer(for meter: MeterID, _ tags: Tags?) -> PointWriter {
        PointWriter(
            measurement: measurement,
            tags: [("host", hostName), ("id", meter.description), ("model", tags?.model), ("name", tags?.name)])
    }
}

import CloudAPI
import CloudClient
import Domain
import FoundationEssentials
import GRDB
import Gateway
import LinuxIO
import Logging
import MeterStore

/// A new host reads all that its cloud has; a host of an older version brings its records to the present names.
enum SyncBenchmark {
    static func run() async throws {
        Report.title("First sync: engine, store and client of a new host, over TLS")
        try await firstSync(of: 5000, rounds: 3, goal: 1)
        try await firstSync(of: 100_000, rounds: 1, goal: 20)
        Report.title("Rebuild: 100,000 records, 10 % of them duplicates under an older form of name")
        try await rebuild(100_000)
    }

    // MARK: First sync

    private static func firstSync(of count: Int, rounds: Int, goal: Double) async throws {
        let folder = try TemporaryFolder()
        let filling = try await CloudFilling(folder)
        try await filling.add(SampleRecords.settings(0..<count))
        try filling.close()
        let server = try MetercloudProcess(folder)
        var (ours, bare, shares) = ([Double](), [Double](), [Double]())
        for round in 0..<rounds {
            let host = try await LibraryHost(joining: server, name: "new-\(round)")
            let (used, usedHere) = (server.process.processorTime, Clocks.process)
            let time = try await host.run { host in
                let results = host.engine.results.subscribe()
                let begin = Clocks.wall
                let fetched = try await host.awaitComplete(results).total.fetched
                guard fetched == count else { throw BenchmarkError("\(fetched) of \(count) records came") }
                return Clocks.wall - begin
            }
            ours.append(time)
            shares.append((server.process.processorTime - used) / (Clocks.process - usedHere))
            // A row for each record and for each of its properties, a page of them a commit.
            let rows = 1 + SampleRecords.propertiesEach
            bare.append(
                try SQLiteControl().write(
                    count * rows, bytesEach: 80, perBatch: CloudLimits.recordsPerPage * rows
                ).total)
        }
        server.end()
        let middle = ours.median
        Report.figure(
            "\(Double(count).grouped) records", "\(middle.fixed(2)) s", goal: (middle <= goal, "\(goal.fixed(0)) s"))
        Report.figure("  server's CPU beside the host's", shares.median.fixed(2))
        Report.control("SQLite, as many rows, a page a commit", bare.median, of: middle)
        if count == 5000 { try await etcdRange(of: count, beside: middle) }
    }

    /// Reading alone: what etcd sends is neither decoded nor kept.
    private static func etcdRange(of count: Int, beside ours: Double) async throws {
        guard let etcd = try await EtcdControl.start() else { return }
        let page = CloudLimits.recordsPerPage
        for start in stride(from: 0, to: count, by: page) {
            let body = EtcdControl.put(start..<min(start + page, count), prefix: "record-", bytesEach: 620)
            try await etcd.client.post("/v3/kv/txn", body)
        }
        let begin = Clocks.wall
        for _ in stride(from: 0, to: count, by: page) {
            try await etcd.client.post("/v3/kv/range", EtcdControl.range(prefix: "record-", limit: page))
        }
        Report.control("etcd, ranges of 400, only read", Clocks.wall - begin, of: ours)
        try await etcd.end()
    }

    // MARK: Rebuild

    private static func rebuild(_ count: Int) async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/host.sqlite"
        try await fill(path, count)
        let store = try MeterStore.open(path: path)
        let logger = Logger(label: "rebuild") { _ in SwiftLogNoOpLogHandler() }
        let settings = SettingsService(
            repository: store, now: { HostMoment(wall: LinuxClock.wallNow, sinceBoot: LinuxClock.now) }, logger: logger)
        let service = RebuildService(
            settings: settings, wallNow: { LinuxClock.wallNow }, hasFetched: { true }, logger: logger)
        let begin = Clocks.wall
        guard case .complete(let progress) = try await service.run(), progress.folded == count / 10 else {
            throw BenchmarkError("the rebuild is not complete")
        }
        let time = Clocks.wall - begin
        try store.close()
        Report.figure("rebuild", "\(time.fixed(2)) s", goal: (time <= 10, "10 s"))
        // Of each duplicate: its properties go, are remembered, and are told; a step looks at 500 records.
        let rows = (1 + SampleRecords.propertiesEach) * 3 * count / 10
        let control = try SQLiteControl().write(
            rows, bytesEach: 80, perBatch: rows / (count / RebuildService.stepLength)
        ).total
        Report.control("SQLite, as many rows, a step a commit", control, of: time)
    }

    /// One in ten records gets the name of its neighbour, in small letters, as a program without the normalising ingest
    /// wrote it.
    private static func fill(_ path: String, _ count: Int) async throws {
        let store = try MeterStore.open(path: path)
        let page = CloudLimits.recordsPerPage
        for start in stride(from: 0, to: count, by: page) {
            let end = min(start + page, count)
            _ = try await store.apply(
                ChangesPage(
                    type: .deviceSettings, records: SampleRecords.settings(start..<end), token: "t\(end)",
                    moreComing: end < count, epoch: "bench"))
        }
        try store.close()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(
                sql: """
                    UPDATE record SET name = lower((SELECT name FROM record AS other WHERE other.id = record.id - 1))
                    WHERE id % 10 = 0
                    """)
        }
        try queue.close()
    }
}

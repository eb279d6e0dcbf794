import CloudAPI
import CloudClient
import Domain

/// A host's pages: pushed to the cloud, and read from it.
struct RecordBenchmark {
    private static let page = CloudLimits.recordsPerPage
    private static let pages = 10
    private static let rounds = 3
    /// Of a record of `SampleRecords`, as JSON.
    private static let recordBytes = 620

    private let client: CloudClient
    private let etcd: EtcdControl?

    static func run() async throws {
        Report.title("Records: pages of 400 with 5 properties each, one host after the other (medians of 3 rounds)")
        let server = try MetercloudProcess(try TemporaryFolder())
        var rng = SystemRandomNumberGenerator()
        let client = try CloudClient(try await server.join(HostID(using: &rng), name: "bench"))
        let benchmark = RecordBenchmark(client: client, etcd: try await EtcdControl.start())
        try await benchmark.pushes(to: server)
        try await benchmark.reads(from: server)
        try await benchmark.etcd?.end()
        await client.shutdown()
        server.end()
    }

    private func pushes(to server: MetercloudProcess) async throws {
        var (new, changed, theirs, bare, cores) = ([Double](), [Double](), [Double](), [Double](), [Double]())
        for round in 0..<Self.rounds {
            let first = round * Self.pages * Self.page
            let used = server.process.processorTime
            let times = try await push(from: first, version: 0)
            cores.append((server.process.processorTime - used) / times.total)
            new.append(times.perSecond * Double(Self.page))
            changed.append(try await push(from: first, version: 1).perSecond * Double(Self.page))
            bare.append(
                try SQLiteControl().write(Self.pages * Self.page, bytesEach: Self.recordBytes, perBatch: Self.page)
                    .perSecond * Double(Self.page))
            guard let etcd else { continue }
            let puts = try await sequence { number in
                let start = first + number * Self.page
                try await etcd.client.post(
                    "/v3/kv/txn",
                    EtcdControl.put(start..<(start + Self.page), prefix: "record-", bytesEach: Self.recordBytes))
            }
            theirs.append(puts.perSecond * Double(Self.page))
        }
        Report.figure("push, new", "\(new.median.grouped) records/s", goal: (new.median >= 4000, "4,000/s"))
        Report.figure("push, changed", "\(changed.median.grouped) records/s", goal: (changed.median >= 4000, "4,000/s"))
        Report.figure("  server's CPU meanwhile", "\((cores.median * 100).fixed(0)) % of a core")
        Report.control("SQLite, 400 rows a commit", bare.median, "/s", of: new.median)
        if etcd != nil { Report.control("etcd, 400 keys a transaction", theirs.median, "/s", of: new.median) }
    }

    private func push(from first: Int, version: Int) async throws -> CallTimes {
        let batches = (0..<Self.pages).map { number in
            let start = first + number * Self.page
            return OutboxBatch(records: SampleRecords.settings(start..<(start + Self.page), version: version))
        }
        return try await sequence { number in
            let outcome = try await client.modify(batches[number])
            guard outcome.results.allSatisfy({ $0.failure == nil }) else {
                throw BenchmarkError("a record was refused: \(outcome.results[0])")
            }
        }
    }

    private func reads(from server: MetercloudProcess) async throws {
        var (ours, theirs, bare) = ([CallTimes](), [CallTimes](), [CallTimes]())
        let control = try SQLiteControl()
        _ = try control.write(Self.page, bytesEach: Self.recordBytes, perBatch: Self.page)
        var core = 0.0
        for _ in 0..<Self.rounds {
            let used = server.process.processorTime
            ours.append(
                try await sequence { _ in
                    let page = try await client.changes(of: .deviceSettings, since: nil, limit: Self.page)
                    guard page.records.count == Self.page else { throw BenchmarkError("the page is not full") }
                })
            core = (server.process.processorTime - used) / Double(Self.pages)
            bare.append(try control.read(Self.page, rounds: Self.pages))
            guard let etcd else { continue }
            theirs.append(
                try await sequence { _ in
                    try await etcd.client.post(
                        "/v3/kv/range", EtcdControl.range(prefix: "record-", limit: Self.page))
                })
        }
        let middle = ours.middle.quantile(0.5)
        Report.figure("page of 400 changes, read", middle.milliseconds, goal: (middle <= 0.02, "20 ms"))
        Report.figure("  of it the server's CPU", core.milliseconds)
        Report.control("SQLite, the same rows", bare.middle.quantile(0.5), of: middle)
        if etcd != nil { Report.control("etcd, a range of 400, not decoded", theirs.middle.quantile(0.5), of: middle) }
    }

    /// One page after the other.
    private func sequence(_ call: (Int) async throws -> Void) async throws -> CallTimes {
        let begin = Clocks.wall
        var times: [Double] = []
        for number in 0..<Self.pages {
            let sent = Clocks.wall
            try await call(number)
            times.append(Clocks.wall - sent)
        }
        return CallTimes(times, total: Clocks.wall - begin)
    }
}

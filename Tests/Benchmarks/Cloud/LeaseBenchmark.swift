import AsyncHTTPClient
import CloudAPI
import CloudServer
import Domain
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1

/// What 10,000 hosts with 100,000 meters cost the cloud: their renewals, their acquires, its memory.
struct LeaseBenchmark: Sendable {
    private static let hostCount = 10_000
    private static let metersEach = 10
    /// Calls at a time.
    private static let workers = 8
    private static let rounds = 3
    /// About what etcd would have to keep of a lease.
    private static let leaseBytes = 300

    private let server: MetercloudProcess
    private let hosts: [CloudHost]
    private let renewals: [ByteBuffer]
    private let client: LoadClient

    static func run() async throws {
        Report.title("Leases: 10,000 hosts with 10 meters each, over TLS (8 calls at a time; medians of 3 rounds)")
        // Each open stream is a descriptor here, too.
        _ = DescriptorLimit.raise()
        let folder = try TemporaryFolder()
        let filling = try await CloudFilling(folder)
        let hosts = try await filling.addHosts(hostCount, leasesEach: metersEach)
        try filling.close()
        let benchmark = try LeaseBenchmark(
            server: MetercloudProcess(folder), hosts: hosts,
            renewals: hosts.map {
                try ByteBuffer(json: RenewRequest(session: $0.session.description, leases: $0.leases))
            })
        try await benchmark.memory()
        let etcd = try await EtcdControl.start()
        try await benchmark.renewalsAtMost(beside: etcd)
        try await benchmark.renewalsAtTheirPace(beside: etcd)
        try await benchmark.acquires(beside: etcd)
        let after = benchmark.server.process.memory("RssAnon")
        // No goal of its own: 60 MB for the leases, and 64 KB for each of the 1,000 streams that were open.
        Report.figure("RssAnon after all that", "\(after.fixed(1)) MB")
        try await etcd?.end()
        try await benchmark.client.shutdown()
        benchmark.server.end()
    }

    private init(server: MetercloudProcess, hosts: [CloudHost], renewals: [ByteBuffer]) {
        self.server = server
        self.hosts = hosts
        self.renewals = renewals
        client = LoadClient(server.url, connections: 64)
    }

    // MARK: Memory

    private func memory() async throws {
        let before = server.process.memory("RssAnon")
        Report.figure("RssAnon with 10,000 hosts' leases", "\(before.fixed(1)) MB", goal: (before <= 60, "60 MB"))
        let count = 1000
        let streams = LoadClient(server.url, connections: count)
        let (openings, opening) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in hosts.prefix(count) {
                group.addTask {
                    let body = try await streams.stream(.GET, Self.path("events"), token: host.token)
                    var pieces = body.makeAsyncIterator()
                    _ = try await pieces.next()
                    opening.yield()
                    while try await pieces.next() != nil {}
                }
            }
            var opened = 0
            for await _ in openings {
                opened += 1
                if opened == count { break }
            }
            // Beyond a ping for each of them.
            try await Clocks.wait(until: Clocks.wall + 16)
            let each = (server.process.memory("RssAnon") - before) / Double(count) * 1024
            Report.figure("RssAnon each of 1,000 open streams", "\(each.fixed(1)) KB", goal: (each <= 64, "64 KB"))
            group.cancelAll()
            // They end by being cancelled, which they say.
            while let result = await group.nextResult() { _ = result }
        }
        try await streams.shutdown()
    }

    // MARK: Renewals

    private func renewalsAtMost(beside etcd: EtcdControl?) async throws {
        try await checkAnswer()
        var (ours, theirs, bare, cores) = ([Double](), [Double](), [Double](), [Double]())
        let perCall = Double(Self.metersEach)
        for _ in 0..<Self.rounds {
            let used = server.process.processorTime
            let times = try await Load.closed(workers: Self.workers, seconds: 3) { try await renew($0) }
            ours.append(times.perSecond * perCall)
            cores.append((server.process.processorTime - used) / times.total)
            bare.append(
                try SQLiteControl().write(10_000, bytesEach: Self.leaseBytes, perBatch: Self.metersEach).perSecond
                    * perCall)
            guard let etcd else { continue }
            theirs.append(
                try await Load.closed(workers: Self.workers, seconds: 3) { number in
                    try await etcd.client.post("/v3/kv/txn", Self.putLeases(number))
                }.perSecond * perCall)
        }
        let rate = ours.median
        Report.figure("renewals, 10 a call", "\(rate.grouped)/s", goal: (rate >= 3000, "3,000/s"))
        Report.figure("  server's CPU meanwhile", "\((cores.median * 100).fixed(0)) % of a core")
        Report.control("SQLite, 10 rows a commit", bare.median, "/s", of: rate)
        if etcd != nil { Report.control("etcd, 10 keys a transaction", theirs.median, "/s", of: rate) }
    }

    private func renewalsAtTheirPace(beside etcd: EtcdControl?) async throws {
        let pace = 170.0
        for isLast in [false, true] {
            let used = server.process.processorTime
            let times = try await Load.paced(perSecond: pace, seconds: 10) { try await renew($0, isLast: isLast) }
            let core = (server.process.processorTime - used) / times.total
            Report.figure(
                isLast ? "  each on a new connection" : "1,700/s, 10 a call", times.words,
                goal: isLast ? nil : (times.quantile(0.99) <= 0.05, "p99 50 ms"))
            Report.figure(
                "  server's CPU", "\((core * 100).fixed(1)) % of a core", goal: (core < 0.5, "far less than a core"))
        }
        guard let etcd else { return }
        let used = etcd.process.processorTime
        let times = try await Load.paced(perSecond: pace, seconds: 10) { number in
            try await etcd.client.post("/v3/kv/txn", Self.putLeases(number))
        }
        Report.figure("  control etcd, the same", times.words)
        Report.figure(
            "  etcd's CPU", "\(((etcd.process.processorTime - used) / times.total * 100).fixed(1)) % of a core")
    }

    @Sendable private func renew(_ number: Int, isLast: Bool = false) async throws {
        let host = number % hosts.count
        try await client.post(Self.path("leases/renew"), renewals[host], token: hosts[host].token, isLast: isLast)
    }

    private func checkAnswer() async throws {
        let answer = try await client.post(Self.path("leases/renew"), renewals[0], token: hosts[0].token)
        let results = try JSONDecoder().decode(RenewAnswer.self, from: Data(answer.readableBytesView)).results
        guard results.count == Self.metersEach, results.allSatisfy({ $0.result == "renewed" }) else {
            throw BenchmarkError("the leases were not renewed: \(results)")
        }
    }

    @Sendable private static func putLeases(_ number: Int) -> ByteBuffer {
        let first = number % hostCount * metersEach
        return EtcdControl.put(first..<(first + metersEach), prefix: "lease-", bytesEach: leaseBytes)
    }

    // MARK: Acquires

    private func acquires(beside etcd: EtcdControl?) async throws {
        var (ours, theirs, bare) = ([CallTimes](), [CallTimes](), [CallTimes]())
        for round in 0..<Self.rounds {
            ours.append(
                try await Load.closed(workers: Self.workers, seconds: 3) { try await acquire($0, round: round) })
            bare.append(try SQLiteControl().write(1000, bytesEach: Self.leaseBytes, perBatch: 1))
            guard let etcd else { continue }
            theirs.append(
                try await Load.closed(workers: Self.workers, seconds: 3) { number in
                    let key = round << 20 + number
                    let body = EtcdControl.put(
                        key..<(key + 1), prefix: "acquire-", bytesEach: Self.leaseBytes, isNew: true)
                    try await etcd.client.post("/v3/kv/txn", body)
                })
        }
        let middle = ours.middle
        Report.figure(
            "acquire", "\(middle.perSecond.grouped)/s, \(middle.words)",
            goal: (middle.quantile(0.99) <= 0.05, "p99 50 ms"))
        Report.control("SQLite, 1 row a commit, 1 at a time", bare.middle.perSecond, "/s", of: middle.perSecond)
        Report.figure("    its times", bare.middle.words)
        guard etcd != nil else { return }
        Report.control("etcd, compare and put", theirs.middle.perSecond, "/s", of: middle.perSecond)
        Report.figure("    its times", theirs.middle.words)
    }

    @Sendable private func acquire(_ number: Int, round: Int) async throws {
        var rng = SystemRandomNumberGenerator()
        let host = hosts[number % hosts.count]
        let meter = MACAddress(bits: 0x02EF_0000_0000 + UInt64(round << 24 + number)).description
        let request = AcquireRequest(
            requestID: RequestID(using: &rng).description, session: host.session.description, transport: "usb")
        let path = "leases/\(meter.replacing(":", with: "%3A"))/acquire"
        try await client.post(Self.path(path), try ByteBuffer(json: request), token: host.token)
    }

    private static func path(_ rest: String) -> String { "/v1/zones/\(CloudFilling.zone)/\(rest)" }
}

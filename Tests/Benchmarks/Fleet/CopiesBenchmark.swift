import AsyncHTTPClient
import Domain
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// Two copies of metercloud over one etcd, beside the same etcd asked directly, in turns within one run.
struct CopiesBenchmark: Sendable {
    private static let rounds = 3
    private static let seconds = 3.0
    private static let workers = 16
    private static let leaseBytes = 300

    private let fleet: Fleet
    private let cloud: FleetCloud
    private let etcd: EtcdControl

    /// Processor time of everything that takes part, in seconds.
    private struct Work {
        var copies = 0.0
        var etcd = 0.0
        /// This process, which is the hosts.
        var load = 0.0
        var count = 0

        /// A line of microseconds for each, by whose they are.
        var words: String {
            let each = [("copies", copies), ("etcd", etcd), ("hosts", load)]
                .map { "\($0) \(($1 / Double(max(count, 1)) * 1e6).fixed(0))" }
            return "\(each.joined(separator: " + ")) us"
        }
    }

    /// Adds what a run of calls takes to `work`.
    ///
    /// - Parameter countEach: what a call does so many of.
    private func counting(
        _ work: inout Work, countEach: Int = 1, _ body: () async throws -> CallTimes
    ) async throws -> CallTimes {
        let (before, own) = (cloud.usage, Clocks.process)
        let times = try await body()
        let used = cloud.usage - before
        work.copies += used.copies
        work.etcd += used.etcd
        work.load += Clocks.process - own
        work.count += times.each.count * countEach
        return times
    }

    static func run() async throws {
        Report.title("Two copies over one etcd, beside etcd alone (medians of 3 rounds)")
        guard OwnProgram.installed("etcd") != nil else {
            Report.line("  \(EtcdControl.missing)")
            return
        }
        let folder = try TemporaryFolder()
        let filling = try await CloudFilling(folder)
        let hosts = try await filling.addHosts(
            1000, leasesEach: Fleet.metersEach, hostsPerZone: Fleet.hostsPerZone)
        try filling.close()
        let cloud = try await FleetCloud(.etcd, folder: folder)
        guard let etcd = cloud.etcd else { return }
        let fleet = Fleet(hosts, clients: cloud.copies.map { LoadClient($0.url, connections: 64) })
        let benchmark = CopiesBenchmark(fleet: fleet, cloud: cloud, etcd: etcd)
        try await benchmark.acquires()
        try await benchmark.renewals()
        try await benchmark.visibility()
        for client in fleet.clients { try await client.shutdown() }
        try await cloud.end()
    }

    private func acquires() async throws {
        var (ours, theirs) = ([CallTimes](), [CallTimes]())
        var (work, control) = (Work(), Work())
        let refused = CallCounter()
        for round in 0..<Self.rounds {
            ours.append(
                try await counting(&work) {
                    try await Load.closed(workers: Self.workers, seconds: Self.seconds) { number in
                        let meter = MACAddress(bits: 0x02EF_0000_0000 + UInt64(round << 24 + number)).description
                        if try await !fleet.acquire(meter, by: number) { refused.add() }
                    }
                })
            theirs.append(
                try await counting(&control) {
                    try await Load.closed(workers: Self.workers, seconds: Self.seconds) { number in
                        let key = round << 20 + number
                        try await etcd.client.post(
                            "/v3/kv/txn",
                            EtcdControl.put(
                                key..<(key + 1), prefix: "acquire-", bytesEach: Self.leaseBytes, isNew: true))
                    }
                })
        }
        let (mine, alone) = (ours.middle, theirs.middle)
        Report.figure(
            "acquire, \(Self.workers) at a time", "\(mine.perSecond.grouped)/s, \(mine.words)",
            goal: (mine.perSecond >= 0.5 * alone.perSecond, "0.5 x etcd alone"))
        Report.figure("  processor, each", work.words)
        Report.control("etcd, compare and put", alone.perSecond, "/s", of: mine.perSecond)
        Report.figure("  processor, each", control.words)
        Report.figure("of those refused", "\(refused.value)", goal: (refused.value == 0, "none"))
    }

    /// A heartbeat is for all of a host's leases; those of several hosts share a transaction.
    private func renewals() async throws {
        var (ours, theirs) = ([Double](), [Double]())
        var (work, control) = (Work(), Work())
        let lost = CallCounter()
        for round in 0..<Self.rounds {
            let times = try await counting(&work, countEach: Fleet.metersEach) {
                try await Load.closed(workers: 64, seconds: Self.seconds) { number in
                    if try await fleet.renew(number).lost > 0 { lost.add() }
                }
            }
            ours.append(times.perSecond * Double(Fleet.metersEach))
            let alone = try await counting(&control) {
                try await Load.closed(workers: 64, seconds: Self.seconds) { number in
                    let key = round << 20 + number % 1000
                    try await etcd.client.post(
                        "/v3/kv/txn", EtcdControl.put(key..<(key + 1), prefix: "renew-", bytesEach: Self.leaseBytes))
                }
            }
            theirs.append(alone.perSecond)
        }
        Report.figure(
            "renewals, 10 a call, 64 calls at a time", "\(ours.median.grouped)/s",
            goal: (ours.median >= 5 * theirs.median, "5 x etcd alone"))
        Report.figure("  processor, each", work.words)
        Report.control("etcd, one key a transaction", theirs.median, "/s", of: ours.median)
        Report.figure("  processor, each", control.words)
        Report.figure("calls that lost a lease", "\(lost.value)", goal: (lost.value == 0, "none"))
    }

    /// From before a host of one copy asks for a meter until a host of the other copy is told who has it.
    private func visibility() async throws {
        // Hosts 0 and 1 are of one zone, and of different copies.
        let listener = fleet.host(1)
        let client = LoadClient(fleet.client(of: 1).url, connections: 1)
        let body = try await client.stream(.GET, Fleet.path(listener.zone, "events"), token: listener.token)
        var pieces = body.makeAsyncIterator()
        // That it is open.
        _ = try await pieces.next()
        var times: [Double] = []
        for number in 0..<300 {
            let meter = MACAddress(bits: 0x02AA_0000_0000 + UInt64(number)).description
            let begin = Clocks.wall
            async let isGranted = fleet.acquire(meter, by: 0)
            var text = ""
            while !text.contains(meter) {
                guard let piece = try await pieces.next() else { throw BenchmarkError("the event stream ended") }
                text += String(buffer: piece)
            }
            times.append(Clocks.wall - begin)
            guard try await isGranted else { throw BenchmarkError("\(meter) was refused") }
            try await Clocks.wait(until: Clocks.wall + 0.03)
        }
        let seen = CallTimes(times, total: times.reduce(0, +))
        Report.figure(
            "a holder seen through the other copy", "p50 \(seen.quantile(0.5).milliseconds)",
            goal: (seen.quantile(0.5) <= 0.05, "50 ms"))
        Report.figure("", "p99 \(seen.quantile(0.99).milliseconds)", goal: (seen.quantile(0.99) <= 0.25, "250 ms"))
        // The stream has no end of its own: its client's end is its end.
        try await client.shutdown()
    }
}

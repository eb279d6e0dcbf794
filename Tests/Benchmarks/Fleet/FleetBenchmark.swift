import CloudServer
import Domain
import FoundationEssentials
import Glibc
import NIOCore

/// How a cloud carries a fleet, and how that grows with it (`make load`).
///
/// Each size: as many hosts with ten meters each as make it, every host renewing at its heartbeat, one meter in a hundred
/// moving to another host a minute, as many settings edited, and up to a thousand event streams open. Then, with the
/// greatest fleet, all copies are killed and started again, and all leases are left to run out.
struct FleetBenchmark {
    struct Options {
        var sizes = [1000, 10_000, 100_000]
        var seconds = 60.0
        var engines = FleetCloud.Engine.allCases
        var streams = 1000
        /// Leases are left to run out, which takes their time to live and lock-delay.
        var waitsForExpiry = true

        /// `fleet [--sizes 1000,10000] [--seconds 60] [--engine sqlite] [--streams 1000] [--no-expiry]`
        init(_ arguments: [String]) throws {
            var left = arguments[...]
            while let word = left.popFirst() {
                switch word {
                case "--sizes": sizes = try Self.numbers(left.popFirst())
                case "--seconds": seconds = Double(try Self.numbers(left.popFirst())[0])
                case "--streams": streams = try Self.numbers(left.popFirst())[0]
                case "--no-expiry": waitsForExpiry = false
                case "--engine":
                    guard let engine = left.popFirst().flatMap({ FleetCloud.Engine(rawValue: $0) }) else {
                        throw BenchmarkError("--engine takes sqlite or etcd")
                    }
                    engines = [engine]
                default: throw BenchmarkError("there is no option \(word)")
                }
            }
        }

        private static func numbers(_ text: String?) throws -> [Int] {
            let numbers = (text ?? "").split(separator: ",").compactMap { Int($0) }
            guard !numbers.isEmpty, numbers.allSatisfy({ $0 > 0 }) else {
                throw BenchmarkError("\"\(text ?? "")\" is not a list of numbers")
            }
            return numbers
        }
    }

    let engine: FleetCloud.Engine
    let options: Options

    static func run(_ options: Options) async throws {
        _ = DescriptorLimit.raise()
        for engine in options.engines {
            for size in options.sizes {
                let isGreatest = size == options.sizes.max()
                try await FleetBenchmark(engine: engine, options: options).run(meters: size, isGreatest: isGreatest)
            }
        }
    }

    private func run(meters: Int, isGreatest: Bool) async throws {
        let hostCount = max(1, meters / Fleet.metersEach)
        let what = engine == .sqlite ? "one metercloud, SQLite" : "two metercloud, one etcd"
        Report.title("\(Double(meters).grouped) meters, \(Double(hostCount).grouped) hosts: \(what)")
        Report.load()
        let folder = try TemporaryFolder()
        let filling = try await CloudFilling(folder)
        let hosts = try await filling.addHosts(
            hostCount, leasesEach: Fleet.metersEach, hostsPerZone: Fleet.hostsPerZone)
        try filling.close()
        let cloud = try await FleetCloud(engine, folder: folder)
        if let moved = cloud.moved { Report.figure("metercloud migrate", "\(moved.fixed(1)) s") }
        Report.figure("start until it serves", "\(cloud.started.fixed(2)) s", goal: (cloud.started <= 2, "2 s"))
        var fleet = try await steady(hosts, cloud)
        if isGreatest {
            fleet = try await killed(fleet, cloud)
            if options.waitsForExpiry { try await expired(fleet) }
        }
        for client in fleet.clients { try await client.shutdown() }
        try await cloud.end()
    }

    private func clients(_ cloud: FleetCloud, connections: Int) -> [LoadClient] {
        cloud.copies.map { LoadClient($0.url, connections: connections) }
    }

    // MARK: A usual minute

    private func steady(_ hosts: [CloudHost], _ cloud: FleetCloud) async throws -> Fleet {
        let fleet = Fleet(hosts, clients: clients(cloud, connections: 64))
        let streamClients = clients(cloud, connections: options.streams)
        let events = CallCounter()
        // Pings too.
        let streams = OpenStreams { _, piece in events.add(piece.readableBytesView.count(of: Array("\n\n".utf8))) }
        let streamCount = min(options.streams, fleet.count)
        let sources = fleet.eventStreams(streamCount, over: streamClients)
        let (times, used, traffic) = try await streams.whileOpen(sources) {
            let before = (cloud.usage, fleet.traffic)
            let times = try await load(fleet)
            return (times, cloud.usage - before.0, fleet.traffic - before.1)
        }
        for client in streamClients { try await client.shutdown() }
        report(times, of: fleet, used, traffic: traffic, cloud)
        Report.figure(
            "events, on \(streamCount) streams", "\((Double(events.value) / options.seconds).grouped)/s")
        Report.figure(
            "streams that the cloud ended", "\(streams.endedCount)", goal: (streams.endedCount == 0, "none"))
        Report.figure("moves that were refused", "\(fleet.refused)", goal: (fleet.refused == 0, "none"))
        return fleet
    }

    private struct Times: Sendable {
        var renewals: CallTimes
        var moves: CallTimes
        var edits: CallTimes
    }

    private func load(_ fleet: Fleet) async throws -> Times {
        let moves = Double(fleet.meters) / 100 / 60
        let seconds = options.seconds
        async let renewing = Load.paced(perSecond: Double(fleet.count) / Fleet.heartbeat, seconds: seconds) {
            try await fleet.renew($0)
        }
        async let moving = Load.paced(perSecond: moves, seconds: seconds) { _ in
            var rng = SystemRandomNumberGenerator()
            try await fleet.move(&rng)
        }
        async let editing = Load.paced(perSecond: moves, seconds: seconds) { try await fleet.edit($0) }
        return try await Times(renewals: renewing, moves: moving, edits: editing)
    }

    private func report(
        _ times: Times, of fleet: Fleet, _ used: FleetCloud.Usage, traffic: Int, _ cloud: FleetCloud
    ) {
        for (name, times) in [
            ("heartbeats, 10 leases each", times.renewals), ("meters moved: release and acquire", times.moves),
            ("settings edited", times.edits),
        ] {
            Report.figure(
                name,
                "\((Double(times.each.count) / options.seconds).fixed(1))/s, \(times.words), max \((times.each.last ?? 0).milliseconds)"
            )
        }
        let seconds = options.seconds
        Report.figure("processor of metercloud", "\((used.copies / seconds * 100).fixed(1)) % of a core")
        if engine == .etcd {
            Report.figure("processor of etcd", "\((used.etcd / seconds * 100).fixed(1)) % of a core")
        }
        let memory = cloud.memory
        Report.figure("RssAnon of metercloud", "\(memory.copies.fixed(1)) MB")
        if engine == .etcd { Report.figure("RssAnon of etcd", "\(memory.etcd.fixed(1)) MB") }
        let day = 86_400 / seconds / Double(fleet.meters)
        Report.figure(
            "written to the disk",
            "\((used.written / seconds * 1024).fixed(0)) KB/s, "
                + "\((used.written * 1024 * day).fixed(0)) KB a meter and day")
        Report.figure("over the network", "\((Double(traffic) / 1024 * day).fixed(0)) KB a meter and day")
    }

    // MARK: What is rare

    private func killed(_ fleet: Fleet, _ cloud: FleetCloud) async throws -> Fleet {
        for client in fleet.clients { try await client.shutdown() }
        try cloud.restartAfterKill()
        Report.figure(
            "all copies killed: start until it serves", "\(cloud.started.fixed(2)) s", goal: (cloud.started <= 2, "2 s")
        )
        let fleet = Fleet((0..<fleet.count).map { fleet.host($0) }, clients: clients(cloud, connections: 64))
        let begin = Clocks.wall
        let (renewed, lost) = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for worker in 0..<16 {
                group.addTask {
                    var sum = (0, 0)
                    for number in stride(from: worker, to: fleet.count, by: 16) {
                        let one = try await fleet.renew(number)
                        sum = (sum.0 + one.renewed, sum.1 + one.lost)
                    }
                    return sum
                }
            }
            return try await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.0, $0.1 + $1.1) }
        }
        let took = Clocks.wall - begin
        Report.figure(
            "all leases renewed, 16 hosts at a time",
            "\(took.fixed(1)) s, \((Double(renewed) / took).grouped) leases/s")
        Report.figure("leases lost", "\(lost)", goal: (lost == 0, "none"))
        return fleet
    }

    private func expired(_ fleet: Fleet) async throws {
        // Not a moment less than this since the last renewal was answered.
        let over = LeaseTerms.standard.over
        try await Clocks.wait(until: Clocks.wall + Double(over.components.seconds))
        let leases = fleet.forgetLeases().shuffled()
        let refused = CallCounter()
        let times = try await Load.closed(workers: 8, seconds: 1) { number in
            let lease = leases[number % leases.count]
            let zoneStart = lease.host / Fleet.hostsPerZone * Fleet.hostsPerZone
            let other = min(zoneStart + (lease.host + 1) % Fleet.hostsPerZone, fleet.count - 1)
            if try await !fleet.acquire(lease.meter, by: other) { refused.add() }
        }
        Report.figure(
            "all \(Double(leases.count).grouped) leases over: acquires in the first second",
            "\(times.each.count), \(times.words)")
        Report.figure("of those refused", "\(refused.value)", goal: (refused.value == 0, "none"))
    }
}

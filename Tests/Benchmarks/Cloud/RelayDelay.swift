import Domain
import FoundationEssentials
import GatewayAPI
import NIOCore
import Synchronization

/// How much later than the holder's own watch another host's watch has a reading.
enum RelayDelay {
    private static let meters = 5
    private static let seconds = 20.0

    /// What came of one run.
    private struct Outcome {
        /// Of the readings that both hosts showed.
        var times: CallTimes
        /// Readings that the holder showed.
        var expected: Int
    }

    static func run() async throws {
        Report.title(
            "A reading at the holder until the other host's watch has it: \(meters) UM25C at 2 Hz, \(seconds.fixed(0)) s"
        )
        let cloud = try MetercloudProcess(try TemporaryFolder())
        let direct = try await measure((cloud, cloud))
        cloud.end()
        Report.figure(
            "one metercloud", "p50 \(direct.times.quantile(0.5).milliseconds)",
            goal: (direct.times.quantile(0.5) <= 0.05, "50 ms"))
        tell(direct, p99Max: 0.3)
        guard OwnProgram.installed("etcd") != nil else {
            Report.line("  two copies over etcd: \(EtcdControl.missing)")
            return
        }
        let folder = try TemporaryFolder()
        try await CloudFilling(folder).close()
        let copies = try await FleetCloud(.etcd, folder: folder)
        let passedOn = try await measure((copies.copies[0], copies.copies[1]))
        try await copies.end()
        Report.figure("two copies over etcd, a host at each", "p50 \(passedOn.times.quantile(0.5).milliseconds)")
        tell(passedOn, p99Max: 0.5)
    }

    private static func tell(_ outcome: Outcome, p99Max: Double) {
        let p99 = outcome.times.quantile(0.99)
        Report.figure("", "p99 \(p99.milliseconds)", goal: (p99 <= p99Max, "\((p99Max * 1000).fixed(0)) ms"))
        let seen = outcome.times.each.count
        Report.figure(
            "  readings that the other host's watch has", "\(seen) of \(outcome.expected)",
            goal: (seen == outcome.expected, "all"))
    }

    private static func measure(
        _ copies: (holder: MetercloudProcess, observer: MetercloudProcess)
    ) async throws -> Outcome {
        // Renewed more often than asked, so that two readings are not alike.
        let hosts = try RelayHosts(meters: meters, refresh: .milliseconds(100), copies: copies)
        let clients = [hosts.holder, hosts.observer].map { $0.client(connections: meters) }
        // The holder's come first.
        let sources = clients.flatMap { client in
            hosts.meters.map { RelayHosts.source(of: $0, at: client, wantsAll: true) }
        }
        let arrivals = Arrivals()
        let streams = OpenStreams { arrivals.add($1, from: $0) }
        let time = try await streams.whileOpen(sources) {
            // The first ones wait until the holder knows that somebody watches.
            try await Clocks.wait(until: Clocks.wall + 3)
            let began = Clocks.wall
            try await Clocks.wait(until: began + seconds)
            let ended = Clocks.wall
            try await Clocks.wait(until: ended + 1)
            return (began, ended)
        }
        for client in clients { try await client.shutdown() }
        try hosts.end()
        return try outcome(of: arrivals, from: time.0, to: time.1)
    }

    /// A reading is known by its values. Where a host showed the same ones twice, neither counts.
    private static func outcome(of arrivals: Arrivals, from began: Double, to ended: Double) throws -> Outcome {
        var (times, expected) = ([Double](), 0)
        for meter in 0..<meters {
            let seen = try arrivals.single(from: meter + meters)
            for (reading, moment) in try arrivals.single(from: meter) where began <= moment && moment < ended {
                expected += 1
                if let later = seen[reading] { times.append(later - moment) }
            }
        }
        return Outcome(times: CallTimes(times, total: ended - began), expected: expected)
    }
}

/// What came on streams of readings, each piece with the moment when it did. Looked at afterwards, so that this does not
/// delay what comes.
private final class Arrivals: Sendable {
    private struct Arrival {
        var source: Int
        var moment: Double
        var piece: ByteBuffer
    }

    private let all = Mutex<[Arrival]>([])

    func add(_ piece: ByteBuffer, from source: Int) {
        let moment = Clocks.wall
        all.withLock { $0.append(Arrival(source: source, moment: moment, piece: piece)) }
    }

    /// The moments of readings whose values came once from this source.
    func single(from source: Int) throws -> [ReadingBody: Double] {
        var splitter = LineSplitter()
        var moments: [ReadingBody: [Double]] = [:]
        for arrival in all.withLock({ $0 }) where arrival.source == source {
            for text in try splitter.split(Array(arrival.piece.readableBytesView)) {
                let line = try JSONDecoder().decode(ReadingLine.self, from: Data(text))
                moments[line.values, default: []].append(arrival.moment)
            }
        }
        return moments.filter { $0.value.count == 1 }.compactMapValues(\.first)
    }
}

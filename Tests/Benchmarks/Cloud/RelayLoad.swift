import CloudAPI
import CloudClient
import Domain
import FoundationEssentials
import LinuxIO
import MeterCodec
import MeterSimulator
import NIOCore
import Synchronization

/// A hundred meters of ten hosts, each watched by one of ten other hosts, beside a broker that passes on the same bytes.
///
/// The hosts are in this process, so that the cloud's work is all that is counted; what they send is what real ones send.
struct RelayLoad {
    private static let hosts = 10
    private static let metersEach = 10
    private static let meters = hosts * metersEach
    /// Batches of all meters, each of which has one each 500 ms.
    private static let perSecond = 2.0 * Double(meters)
    private static let seconds = 20.0

    /// The first half have the meters, the others watch.
    private let members: [CloudHost]
    /// One for each of them.
    private let clients: [LoadClient]
    private let readings: [Reading]
    private let ears = RelayEars(streams: meters)

    /// Seconds of the processor, and messages that came to who listens.
    private struct Usage {
        var processor = 0.0
        var arrived = 0

        static func - (_ a: Usage, _ b: Usage) -> Usage {
            Usage(processor: a.processor - b.processor, arrived: a.arrived - b.arrived)
        }
    }

    static func run() async throws {
        Report.title("\(meters) watched meters at 2 Hz, \(hosts) hosts and \(hosts) that watch, \(seconds.fixed(0)) s")
        let folder = try TemporaryFolder()
        let filling = try await CloudFilling(folder)
        let members = try await filling.addHosts(2 * hosts, leasesEach: metersEach)
        try filling.close()
        let cloud = try MetercloudProcess(folder)
        let load = RelayLoad(
            members: members, clients: members.map { _ in LoadClient(cloud.url, connections: metersEach) },
            readings: SampleReadings.um25c)
        let (ours, broker, time) = try await load.measure(cloud)
        for client in load.clients { try await client.shutdown() }
        cloud.end()
        tell(ours, broker, per: time)
    }

    private static func tell(_ ours: Usage, _ broker: Usage?, per time: Double) {
        let sent = Int(perSecond * seconds)
        let share = ours.processor / time
        Report.figure(
            "processor of metercloud", "\((share * 100).fixed(2)) % of a core", goal: (share < 0.05, "under 5 %"))
        Report.figure(
            "batches that came to who watches", "\(ours.arrived) of \(sent)", goal: (ours.arrived == sent, "all"))
        guard let broker else { return }
        Report.control("Mosquitto, processor a second", broker.processor / time, of: share)
        Report.figure("    of a core", "\((broker.processor / time * 100).fixed(2)) %")
        Report.figure("    messages that came", "\(broker.arrived) of \(sent)", goal: (broker.arrived == sent, "all"))
        let ratio = ours.processor / broker.processor
        Report.figure("metercloud beside it", "\(ratio.fixed(2)) x", goal: (ratio <= 2, "2 x"))
    }

    /// Both at the same time, so that whatever the machine does meanwhile is done to both.
    private func measure(_ cloud: MetercloudProcess) async throws -> (ours: Usage, broker: Usage?, time: Double) {
        let streams = OpenStreams { [ears] in ears.hear($1, on: $0) }
        return try await streams.whileOpen(sources) {
            let early = Int(2 * Self.perSecond)
            _ = try await Load.paced(perSecond: Self.perSecond, seconds: 2) { try await send($0) }
            // The last ones are still on their way.
            try await Clocks.wait(until: Clocks.wall + 0.5)
            guard let payload = ears.sample else { throw BenchmarkError("no batch came to who watches") }
            let broker = try await MosquittoControl.start(topics: Self.meters, payload: payload)
            defer { broker?.end() }
            func usage() -> (Usage, Usage?) {
                (
                    Usage(processor: cloud.process.processorTime, arrived: ears.batches),
                    broker.map { Usage(processor: $0.process.processorTime, arrived: $0.received) }
                )
            }
            let (began, before) = (Clocks.wall, usage())
            async let ours = Load.paced(perSecond: Self.perSecond, seconds: Self.seconds) {
                try await send($0 + early)
            }
            async let theirs = Load.paced(perSecond: Self.perSecond, seconds: Self.seconds) {
                try broker?.publish(to: $0 % Self.meters)
            }
            _ = try await (ours, theirs)
            let time = Clocks.wall - began
            try await Clocks.wait(until: Clocks.wall + 0.5)
            let after = usage()
            return (after.0 - before.0, after.1.flatMap { last in before.1.map { last - $0 } }, time)
        }
    }

    // MARK: The hosts

    /// The streams of those that watch: ten for each, of as many hosts' meters.
    private var sources: [OpenStreams.Source] {
        (0..<Self.meters).map { meter in
            let watcher = Self.hosts + meter % Self.hosts
            return OpenStreams.Source(
                client: clients[watcher], path: path(of: lease(meter).meter), token: members[watcher].token)
        }
    }

    /// One batch of one meter, all meters in turn.
    private func send(_ number: Int) async throws {
        let meter = number % Self.meters
        let host = members[meter / Self.metersEach]
        var batch = RelayBatch(
            number: UInt64(number + 1), missed: 0,
            readings: [
                RelayReading(
                    age: .milliseconds(2), wallTime: LinuxClock.wallNow, reading: readings[number % readings.count])
            ])
        batch.model = ModelName.um25c.displayName
        let parcel = RelaySender.Parcel(token: FencingToken(rawValue: lease(meter).token), batch: batch)
        let answer = try await clients[meter / Self.metersEach].post(
            path(of: lease(meter).meter), try ByteBuffer(json: RelayRequest(parcel, session: host.session)),
            token: host.token)
        let said = try JSONDecoder().decode(RelayAnswer.self, from: Data(answer.readableBytesView))
        guard said.interest > 0 else { throw BenchmarkError("nobody watches \(lease(meter).meter)") }
    }

    private func lease(_ meter: Int) -> RenewRequest.Lease {
        members[meter / Self.metersEach].leases[meter % Self.metersEach]
    }

    private func path(of meter: String) -> String {
        Fleet.path(CloudFilling.zone, "meters/\(meter.percentEncoded)/readings")
    }
}

/// What comes to hosts that watch.
private final class RelayEars: Sendable {
    private struct State {
        var parsers: [ServerSentEvents]
        var batches = 0
        var sample: String?
    }

    private let state: Mutex<State>

    init(streams: Int) { state = Mutex(State(parsers: Array(repeating: ServerSentEvents(), count: streams))) }

    /// Batches on all streams so far.
    var batches: Int { state.withLock { $0.batches } }
    /// The JSON of one of them.
    var sample: String? { state.withLock { $0.sample } }

    func hear(_ piece: ByteBuffer, on stream: Int) {
        state.withLock { state in
            // One that is too long is missed by the count.
            let events = (try? state.parsers[stream].append(piece.readableBytesView)) ?? []
            for event in events where event.name == "readings" {
                state.batches += 1
                state.sample = event.data
            }
        }
    }
}

/// Readings as a meter may give them.
enum SampleReadings {
    /// Thirty different ones.
    static var um25c: [Reading] {
        var meter = SimulatedUM(model: .um25c)
        var decoder = UMDecoder()
        var readings: [Reading] = []
        for number in 1...30 {
            for bytes in meter.receive([0xF0], at: .milliseconds(500 * number)) { decoder.append(bytes) }
            while case .frame(let frame)? = decoder.next() { frame.forEachReading { readings.append($0) } }
        }
        return readings
    }
}

import CloudAPI
import CloudClient
import Domain
import FoundationEssentials
import LinuxIO
import NIOCore
import Synchronization

/// One meter that very many watch. Its holder and they are in this process.
struct RelayCrowd {
    private static let streams = 500
    private static let watchers = 10
    private static let perSecond = 4.0
    private static let seconds = 15.0

    /// The first has the meter, the others watch.
    private let members: [CloudHost]
    /// One for each of them.
    private let clients: [LoadClient]
    private let ears = CrowdEars(streams: streams)
    private let readings = SampleReadings.um25c

    static func run() async throws {
        Report.title("\(streams) streams of one meter, \(perSecond.fixed(0)) batches/s, \(seconds.fixed(0)) s")
        let folder = try TemporaryFolder()
        let filling = try await CloudFilling(folder)
        let members = try await filling.addHosts(1 + watchers, leasesEach: 1)
        try filling.close()
        let cloud = try MetercloudProcess(folder)
        let crowd = RelayCrowd(
            members: members,
            clients: members.map { _ in LoadClient(cloud.url, connections: streams / watchers) })
        let (processor, time) = try await crowd.measure(cloud)
        for client in crowd.clients { try await client.shutdown() }
        cloud.end()
        crowd.tell(processor: processor, per: time)
    }

    private func tell(processor: Double, per time: Double) {
        let sent = Int(Self.perSecond * Self.seconds)
        let arrived = ears.arrived
        let (all, came) = (sent * Self.streams, arrived.reduce(0) { $0 + $1.value.count })
        Report.figure("batches that came to who watches", "\(came) of \(all)", goal: (came == all, "all"))
        let last = CallTimes(arrived.values.compactMap { $0.max() }, total: time)
        Report.figure("from being sent to the last who watches", last.words)
        Report.figure("processor of metercloud", "\((processor / time * 100).fixed(1)) % of a core")
        Report.figure("    for a batch to one stream", "\((processor / Double(all) * 1e6).fixed(1)) us")
    }

    private func measure(_ cloud: MetercloudProcess) async throws -> (processor: Double, time: Double) {
        let streams = OpenStreams { [ears] in ears.hear($1, on: $0) }
        return try await streams.whileOpen(sources) {
            let (began, before) = (Clocks.wall, cloud.process.processorTime)
            _ = try await Load.paced(perSecond: Self.perSecond, seconds: Self.seconds) { try await send($0) }
            let time = Clocks.wall - began
            try await Clocks.wait(until: Clocks.wall + 0.5)
            return (cloud.process.processorTime - before, time)
        }
    }

    private var path: String {
        Fleet.path(CloudFilling.zone, "meters/\(members[0].leases[0].meter.percentEncoded)/readings")
    }

    private var sources: [OpenStreams.Source] {
        (0..<Self.streams).map { stream in
            let watcher = 1 + stream % Self.watchers
            return OpenStreams.Source(client: clients[watcher], path: path, token: members[watcher].token)
        }
    }

    private func send(_ index: Int) async throws {
        let number = UInt64(index + 1)
        let batch = RelayBatch(
            number: number, missed: 0,
            readings: [
                RelayReading(
                    age: .milliseconds(2), wallTime: LinuxClock.wallNow, reading: readings[index % readings.count])
            ])
        let parcel = RelaySender.Parcel(
            token: FencingToken(rawValue: members[0].leases[0].token), batch: batch)
        let body = try ByteBuffer(json: RelayRequest(parcel, session: members[0].session))
        ears.expect(number)
        _ = try await clients[0].post(path, body, token: members[0].token)
    }
}

/// When each batch came to each of those that watch.
private final class CrowdEars: Sendable {
    private struct State {
        var parsers: [ServerSentEvents]
        var sent: [UInt64: Double] = [:]
        var arrived: [UInt64: [Double]] = [:]
    }

    private let state: Mutex<State>

    init(streams: Int) { state = Mutex(State(parsers: Array(repeating: ServerSentEvents(), count: streams))) }

    /// Seconds after it was sent, by the batch's number.
    var arrived: [UInt64: [Double]] { state.withLock { $0.arrived } }

    func expect(_ number: UInt64) { state.withLock { $0.sent[number] = Clocks.wall } }

    func hear(_ piece: ByteBuffer, on stream: Int) {
        let now = Clocks.wall
        state.withLock { state in
            let events = (try? state.parsers[stream].append(piece.readableBytesView)) ?? []
            for event in events where event.name == "readings" {
                let body = try? JSONDecoder().decode(RelayEventBody.self, from: Data(event.data.utf8))
                guard let number = body?.batch?.number, let sent = state.sent[number] else { continue }
                state.arrived[number, default: []].append(now - sent)
            }
        }
    }
}

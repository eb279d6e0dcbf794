import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterTestKit
import Testing

/// A session's readings, lost links and settings reach the recording.
@Suite(.timeLimit(.minutes(10)))
struct SessionRecordingTests {
    private let bench: DirectoryBench
    private let recordings: RecordingService

    init() {
        let host = VirtualHost()
        let settings = SettingsService(
            repository: host.store, now: { [loop = host.loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) },
            logger: host.log.logger)
        recordings = RecordingService(
            host: HostID(high: 0x4000, low: 1), meters: host.meters, repository: host.store, settings: settings,
            loop: host.loop, logger: host.log.logger)
        bench = DirectoryBench(on: host, recordings: recordings)
    }

    @Test func lostMeter_isAGap_andTheRecordingGoesOn() async throws {
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", .init())
        _ = try await recordings.start(.um, name: nil)
        bench.host.loop.advance(by: .seconds(10))

        bench.host.links.unplug(.port)
        await bench.directory.handle(.vanished(.of(.um25c, id: .um)))
        bench.host.loop.advance(by: .seconds(60))
        try await bench.plugIn(.um25c)
        bench.host.loop.advance(by: .seconds(10))
        let recording = try await recordings.stop(.um)

        #expect(recording.totals.readings > 20)
        #expect(recording.totals.gaps.map(\.cause) == [.link])
        #expect(recording.totals.gapTime >= .seconds(60))
        #expect(recording.totals.recorded >= .seconds(15))
        #expect((recording.totals.charge_mAh ?? 0) > 0)
        #expect(recording.totals.charge.total != nil)
        #expect(await bench.leave() == .none)
    }

    @Test func recording_hasWhatTheMeterTold_atItsBeginningAndItsEnd() async throws {
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", .init())
        _ = try await recordings.start(.um, name: nil)
        bench.host.loop.advance(by: .seconds(30))

        let recording = try await recordings.stop(.um)

        let (start, end) = (try #require(recording.toldAtStart), try #require(recording.toldAtEnd))
        #expect(start.details["charging_mode"] != nil)
        #expect(start.groups.count == 10)
        let (before, after) = (start.groups.map(\.charge_mAh).reduce(0, +), end.groups.map(\.charge_mAh).reduce(0, +))
        #expect(after > before)
        #expect(end.details.keys.sorted() == start.details.keys.sorted())
        let listed = try await recordings.recordings()
        #expect(listed.first?.recording.toldAtStart == start)
        #expect(await bench.leave() == .none)
    }

    @Test func threshold_reachesTheMeter_thatIsConnected() async throws {
        // From now on it is informed of settings.
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", .init())
        bench.host.loop.advance(by: .seconds(5))
        let track = recordings.track(for: .um)
        #expect(track.recording == nil)

        _ = try await bench.directory.set(["record-above": "10mA", "record-hold": "2s"], for: "\(MeterID.um)")
        bench.host.loop.advance(by: .seconds(10))

        #expect(track.recording?.trigger == .threshold)
        _ = try await bench.directory.set(["record-above": nil], for: "\(MeterID.um)")
        #expect(track.recording == nil)
        #expect(await bench.leave() == .none)
    }
}

import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RecordingServiceTests {
    private let loop = VirtualLoop()
    private let access = ScriptedAccess()
    private let store: MeterStore
    private let log = LogBook()
    private let host = HostID.temporary

    init() { store = .temporary(through: access) }

    /// A daemon's recordings. Another service on the same stores is the daemon after a restart.
    private func service() -> RecordingService {
        let settings = SettingsService(
            repository: store, now: { [loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) },
            logger: log.logger)
        return RecordingService(
            host: host, meters: Meters(), repository: store, settings: settings, loop: loop, logger: log.logger)
    }

    /// Adds readings, each a second apart on the loop's clock.
    private func read(_ count: Int, amperes: Double, into track: RecordingTrack) {
        for _ in 0..<count {
            loop.advance(by: .seconds(1))
            var reading = Reading()
            reading[.voltage] = 5
            reading[.current] = amperes
            track.append(TimedReading(wallTime: loop.wallNow, time: loop.now, reading: reading))
        }
    }

    private func failure(_ body: () async throws -> some Sendable) async -> GatewayError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? GatewayError
        }
    }

    @Test func recording_isARecord_whenItBegins_andWhenItEnds() async throws {
        let service = service()
        let track = service.track(for: .um)

        let begun = try await service.start(.um, name: "phone")
        let key = RecordKey(type: .recording, name: begun.id.recordName)
        let record = try #require(try await store.record(key))
        #expect(record.properties["end"] == nil)
        #expect(record.properties["name"]?.value == .string("phone"))
        #expect(try await store.runningRecordings().map(\.id) == [begun.id])

        read(11, amperes: 1, into: track)
        let ended = try await service.stop(.um)

        #expect(ended.totals.recorded == .seconds(10))
        #expect(try await store.record(key)?.properties["end"]?.value == .string("hand"))
        #expect(try await store.record(key)?.properties["readings"]?.value == .int(11))
        #expect(try await store.runningRecordings().isEmpty)
        let entry = try await service.recording(begun.id.short)
        #expect(entry.recording == ended)
        #expect(entry.isMine)
    }

    @Test func recording_isNamedAndNoted_whileItGoesOn_andAfter() async throws {
        let service = service()
        let id = try await service.start(.um, name: nil).id.short

        #expect(try await service.describe(id, name: "phone", note: nil).recording.name == "phone")
        _ = try await service.stop(.um)
        #expect(try await service.describe("phone", name: nil, note: "at 20 °C").recording.note == "at 20 °C")
        let last = try await service.describe("phone", name: "", note: nil).recording

        #expect(last.name == nil && last.note == "at 20 °C")
        let text = String(repeating: "x", count: 1001)
        let long = await failure { try await service.describe(id, name: nil, note: text) }
        #expect(long?.code == .badRequest)
    }

    @Test func recording_isDeleted_onceItIsOver() async throws {
        let service = service()
        let begun = try await service.start(.um, name: "phone")

        #expect(await failure { try await service.delete("phone") }?.code == .refused)
        _ = try await service.stop(.um)
        _ = try await service.delete("phone")

        #expect(await failure { try await service.recording("phone") }?.code == .notFound)
        let record = try await store.record(RecordKey(type: .recording, name: begun.id.recordName))
        #expect(record?.isTombstone == true)
    }

    @Test func recording_ofAnotherHost_isLeftAlone() async throws {
        let id = RecordingID(host: HostID(high: 0x4000, low: 2), meter: .um, token: 0, started: loop.wallNow)
        let settings = SettingsService(
            repository: store, now: { [loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) },
            logger: log.logger)
        try await settings.publish(Recording(id: id, name: "theirs", trigger: .hand, end: .hand))

        #expect(await failure { try await service().delete("theirs") }?.code == .refused)
        #expect(await failure { try await service().describe("theirs", name: "mine", note: nil) }?.code == .refused)
    }

    @Test func recording_ofAMeterWithANewID_isTheMeters_andGoesOn() async throws {
        let old = MeterID.port(host: "pi", path: .port)
        _ = try await service().start(old, name: "phone")
        let settings = SettingsService(
            repository: store, now: { [loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) },
            logger: log.logger)
        let next = RecordingService(
            host: host, meters: Meters(), repository: store, settings: settings, loop: loop, logger: log.logger)
        try await next.restore(former: [old: .um])

        #expect(next.track(for: .um).recording?.name == "phone")
        #expect(try await next.recordings(of: .um).map(\.meter) == [.um])
    }

    @Test func start_isRefused_whileOneGoesOn_andStopWhereNoneDoes() async throws {
        let service = service()
        _ = try await service.start(.um, name: nil)

        let twice = await failure { try await service.start(.um, name: nil) }
        let none = await failure { try await service.stop(.tc) }

        #expect(twice?.code == .refused)
        #expect(twice?.next == "meterctl record stop \(MeterID.um) ends it")
        #expect(none?.code == .refused)
        #expect(none?.next == "meterctl record start \(MeterID.tc) begins it")
    }

    @Test(arguments: ["", String(repeating: "x", count: 65), "a\u{1B}[31m"])
    func name_isRefused_whereItIsNone(_ name: String) async throws {
        let service = service()

        #expect(await failure { try await service.start(.um, name: name) }?.code == .badRequest)
        #expect(try await service.recordings().isEmpty)
    }

    // MARK: - Restarts

    @Test func cleanRestart_isAGap_ofOneRecording() async throws {
        let before = service()
        let begun = try await before.start(.um, name: nil)
        read(11, amperes: 1, into: before.track(for: .um))
        before.finish()
        await before.run()

        loop.advance(by: .seconds(30))
        let after = service()
        try await after.restore()
        read(11, amperes: 1, into: after.track(for: .um))
        let ended = try await after.stop(.um)

        #expect(ended.id == begun.id)
        #expect(ended.totals.recorded == .seconds(20))
        #expect(ended.totals.gaps.map(\.cause) == [.host])
        #expect(ended.totals.gapTime == .seconds(31))
        #expect(ended.marks == [.gaps, .hostRestarted])
        #expect(try await after.recordings().count == 1)
    }

    @Test func kill_costsWhatCameSinceTheLastSave_whichIsAGap() async throws {
        let before = service()
        async let running: Void = before.run()
        await loop.timers(reach: 1)
        _ = try await before.start(.um, name: nil)
        let track = before.track(for: .um)
        read(59, amperes: 1, into: track)
        loop.advance(by: .seconds(1))
        try await eventually("the readings are stored") {
            try await store.runningRecordings().first?.totals.readings == 59
        }
        read(30, amperes: 1, into: track)

        // `before` writes nothing any more.
        let after = service()
        try await after.restore()
        read(10, amperes: 1, into: after.track(for: .um))
        let recording = try #require(after.track(for: .um).recording)

        #expect(recording.totals.readings == 69)
        #expect(recording.totals.recorded == .seconds(58 + 9))
        #expect(recording.totals.gapTime == .seconds(32))
        before.finish()
        await running
    }

    @Test func killBetweenTheWritesOfAnEnd_isAnEnd() async throws {
        let before = service()
        let begun = try await before.start(.um, name: nil)
        let ended = try await before.stop(.um)
        try await store.keep([begun])

        let after = service()
        try await after.restore()

        #expect(after.track(for: .um).recording == nil)
        #expect(try await store.runningRecordings().isEmpty)
        #expect(try await after.recording(begun.id.short).recording.end == ended.end)
    }

    // MARK: - By threshold

    @Test func threshold_beginsAndEnds_byItself() async throws {
        let service = service()
        async let running: Void = service.run()
        await loop.timers(reach: 1)
        let track = service.track(for: .um)
        track.apply(
            MeterSettings(stored: ["record-above": "50mA", "record-hold": "5s"]).recordingRules(staleAfter: .zero))

        read(10, amperes: 0.01, into: track)
        read(20, amperes: 1, into: track)
        try await eventually("a recording begins") { try await !store.runningRecordings().isEmpty }
        read(10, amperes: 0.01, into: track)
        try await eventually("the recording ends") { try await store.runningRecordings().isEmpty }

        let entry = try #require(try await service.recordings().first)
        #expect(entry.recording.trigger == .threshold)
        #expect(entry.recording.end == .threshold)
        #expect(entry.recording.totals.recorded == .seconds(20))
        #expect(log.entries(saying: "recording ended").map { $0.values["cause"] } == ["threshold"])
        service.finish()
        await running
        #expect(loop.pendingTimers == 0)
    }

    @Test func silentMeter_endsIt_withoutAReading() async throws {
        let service = service()
        async let running: Void = service.run()
        await loop.timers(reach: 1)
        let track = service.track(for: .um)
        track.apply(RecordingRules(threshold: 0.1, hold: .seconds(1), gapMax: .seconds(100)))
        read(20, amperes: 1, into: track)

        loop.advance(by: .seconds(200))
        try await eventually("the recording ends") { track.recording == nil }

        #expect(try await service.recordings().first?.recording.end == .gap)
        service.finish()
        await running
    }

    // MARK: - A store that fails

    @Test func failingStore_losesNoEnd() async throws {
        let service = service()
        _ = try await service.start(.um, name: nil)
        access.failWrites(with: StoreError(.diskFull, "no space is left"))
        async let running: Void = service.run()
        await loop.timers(reach: 1)

        let error = await failure { try await service.stop(.um) }
        #expect(error?.message.hasPrefix("writing the recording") == true)
        #expect(try await service.recordings().first?.recording.end == .hand, "it is known all the same")
        await loop.timers(reach: 2)
        access.failWrites(with: nil)
        loop.advance(by: .seconds(5))
        try await eventually("the recording ends") { try await store.runningRecordings().isEmpty }

        let stored = try await store.records(of: .recording)
        #expect(stored.map { $0.properties["end"]?.value } == [.string("hand")])
        service.finish()
        await running
    }

    // MARK: - Others

    /// A recording of the same meter by another host.
    private func plant(_ name: String, from start: WallTime, for length: Duration) throws -> RecordingID {
        let other = HostID(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)
        let recording = Recording(
            id: RecordingID(host: other, meter: .um, token: 3, started: start), name: name, trigger: .hand, end: .hand,
            until: start + length)
        let stamp = Stamp(milliseconds: 1, counter: 0, host: other)
        try store.plant([
            SyncRecord(
                key: RecordKey(type: .recording, name: recording.id.recordName),
                properties: recording.properties.mapValues { Register(value: $0, stamp: stamp) })
        ])
        return recording.id
    }

    @Test func recordingsOfOthers_areListed_andOverlapsAreMarked() async throws {
        let service = service()
        let begun = try await service.start(.um, name: nil)
        loop.advance(by: .seconds(60))
        let other = try plant("theirs", from: begun.started + .seconds(-10), for: .seconds(20))
        let apart = try plant("earlier", from: begun.started + .seconds(-100), for: .seconds(20))
        _ = try await service.stop(.um)

        let all = try await service.recordings(of: .um)

        #expect(all.map(\.recording.id) == [begun.id, other, apart])
        #expect(all.map(\.isMine) == [true, false, false])
        #expect(all.map(\.overlaps) == [[other], [begun.id], []])
        #expect(try await service.recordings(of: .tc).isEmpty)
    }

    @Test func reference_isAnID_itsBeginning_orAName() async throws {
        let service = service()
        let one = try plant("phone", from: WallTime(millisecondsSince1970: 1000), for: .seconds(1))
        let two = try plant("Laptop", from: WallTime(millisecondsSince1970: 9000), for: .seconds(1))

        #expect(try await service.recording(one.short).recording.id == one)
        #expect(try await service.recording(String(two.short.prefix(6))).recording.id == two)
        #expect(try await service.recording("laptop").recording.id == two)
        #expect(try await service.recording(one.recordName).recording.id == one)
        let none = await failure { try await service.recording("tablet") }
        #expect(none?.code == .notFound)
        #expect(none?.next == "meterctl record list shows them")
        #expect(await failure { try await service.recording("") }?.code == .notFound)
    }

    @Test func reference_thatMayMeanTwo_isRefused() async throws {
        let service = service()
        let one = try plant("phone", from: WallTime(millisecondsSince1970: 1000), for: .seconds(1))
        let two = try plant("phone", from: WallTime(millisecondsSince1970: 9000), for: .seconds(1))

        let error = await failure { try await service.recording("phone") }

        #expect(error?.code == .badRequest)
        #expect(error?.message == "\"phone\" may mean \(two.short) (phone), \(one.short) (phone)")
    }
}

struct RecordingSettingsTests {
    @Test(arguments: [
        ("0.05A", 0.05), ("50mA", 0.05), ("1A", 1), ("1.5A", 1.5), ("100A", 100), ("1mA", 0.001),
    ])
    func recordAbove_isACurrent(_ text: String, _ amperes: Double) throws {
        var settings = MeterSettings()
        try settings.apply(.recordAbove, text)

        #expect(settings.recordAbove == amperes)
        #expect(try MeterSettings.values(of: ["record-above": text], for: nil)[.recordAbove] == .double(amperes))
        #expect(MeterSettings(stored: ["record-above": "\(amperes)"]).recordAbove == amperes)
        // What is shown can be typed again.
        let shown = try #require(MeterSettings.text(of: .double(amperes), for: .recordAbove))
        try settings.apply(.recordAbove, shown)
        #expect(settings.recordAbove == amperes)
    }

    @Test(arguments: ["0", "-1", "101", "0.0001", "", "A", "1e3", "nan", "1 A", "0x1", "1.2.3", "1V", "0.05", "50"])
    func recordAbove_isRefused_otherwise(_ text: String) {
        var settings = MeterSettings()

        #expect(throws: GatewayError.self) { try settings.apply(.recordAbove, text) }
    }

    @Test func rules_haveTheirDefaults_andASlowMetersPace() {
        let plain = MeterSettings().recordingRules(staleAfter: .seconds(3))
        #expect(plain == RecordingRules())
        let slow = MeterSettings(stored: ["record-above": "1", "record-hold": "0s", "record-gap": "1m"])
            .recordingRules(staleAfter: .seconds(180))
        #expect(
            slow == RecordingRules(threshold: 1, hold: .zero, gapMax: .seconds(180), stepMax: .seconds(180)))
    }
}

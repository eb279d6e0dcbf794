import Domain
import Gateway
import GatewayAPI
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Battery tests from their start until somebody was told what came of them, over restarts.
@Suite(.timeLimit(.minutes(10)))
struct BatteryTestServiceTests {
    private let loop = VirtualLoop()
    private let store = MeterStore.temporary()
    private let notifier = ScriptedNotifier("phone", "lamp")
    private let log = LogBook()

    /// A daemon, as far as battery tests need one. Another one on the same stores is the daemon after a restart.
    private struct Daemon {
        var meters: Meters
        var recordings: RecordingService
        var alerts: AlertService
    }

    private func daemon() async throws -> Daemon {
        let settings = SettingsService(
            repository: store, now: { [loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) },
            logger: log.logger)
        let meters = Meters()
        let recordings = RecordingService(
            host: .temporary, meters: meters, repository: store, settings: settings, loop: loop, logger: log.logger)
        let alerts = AlertService(
            meters: meters, repository: store, notifier: notifier, loop: loop, logger: log.logger)
        recordings.tellResults { [alerts] in alerts.tell($0, of: $1, over: $2) }
        try await recordings.restore()
        return Daemon(meters: meters, recordings: recordings, alerts: alerts)
    }

    /// Runs it while `body` does something.
    private func running(_ daemon: Daemon, _ body: () async throws -> Void) async throws {
        async let recording: Void = daemon.recordings.run()
        async let telling: Void = daemon.alerts.run()
        func finish() {
            daemon.recordings.finish()
            daemon.alerts.finish()
        }
        do {
            try await body()
        } catch {
            finish()
            _ = await (recording, telling)
            throw error
        }
        finish()
        _ = await (recording, telling)
    }

    private func read(_ count: Int, amperes: Double, into track: RecordingTrack) {
        for _ in 0..<count {
            loop.advance(by: .seconds(1))
            var reading = Reading()
            reading[.voltage] = 5
            reading[.current] = amperes
            track.append(TimedReading(wallTime: loop.wallNow, time: loop.now, reading: reading))
        }
    }

    private func test(startAbove: Double? = nil, notify: [String] = ["phone", "lamp"]) throws -> BatteryTest {
        try BatteryTest(until: "current < 50mA for 10s", startAbove: startAbove, notify: notify)
    }

    @Test func test_isTold_whenItsCutoffHolds_andThenKeptNoLonger() async throws {
        let daemon = try await daemon()
        daemon.alerts.ask { meters in Dictionary(uniqueKeysWithValues: meters.map { ($0, .init(name: "bench")) }) }
        let track = daemon.recordings.track(for: .um)

        try await running(daemon) {
            _ = try await daemon.recordings.start(.um, name: "cell", test: try test())
            read(101, amperes: 1, into: track)
            read(20, amperes: 0.01, into: track)
            try await eventually("both were told") { notifier.sent.count == 2 }
            try await eventually("nothing is kept of it") { try await store.runningRecordings().isEmpty }
        }

        let notice = try #require(notifier.sent.first?.notice)
        #expect(notice.event == .finished)
        #expect(notice.title == "battery test over: cell, bench")
        #expect(notice.message.hasPrefix("28 mAh and 0.14 Wh in 1 min 41 s"))
        let entry = try await daemon.recordings.recording("cell")
        #expect(entry.recording.end == .cutoff)
        #expect(entry.recording.test?.value == 0.01)
        #expect(notifier.sent.allSatisfy { $0.number == entry.recording.started.millisecondsSince1970 })
    }

    @Test func result_isToldAfterARestart_ifItWasNotBefore() async throws {
        let first = try await daemon()
        let track = first.recordings.track(for: .um)
        notifier.answer("phone", .failed("no network"))
        try await running(first) {
            _ = try await first.recordings.start(.um, name: "cell", test: try test(notify: ["phone"]))
            read(101, amperes: 1, into: track)
            read(20, amperes: 0.01, into: track)
            try await eventually("it was tried") { notifier.sent.count == 1 }
        }
        #expect(try await store.runningRecordings().map(\.end) == [.cutoff])

        notifier.answer("phone", .delivered)
        let second = try await daemon()
        #expect(second.meters.all.isEmpty)
        try await running(second) {
            try await eventually("it was told") { notifier.sent.count == 2 }
            try await eventually("nothing is kept of it") { try await store.runningRecordings().isEmpty }
        }

        #expect(notifier.sent[0].number == notifier.sent[1].number)
        #expect(notifier.sent[0].notice.message == notifier.sent[1].notice.message)
    }

    @Test func testThatWaits_isSeenByNobodyElse_untilItBegins() async throws {
        let first = try await daemon()
        let waiting = try await first.recordings.start(.um, name: "cell", test: try test(startAbove: 0.5))
        #expect(try await store.record(RecordKey(type: .recording, name: waiting.id.recordName)) == nil)
        #expect(try await first.recordings.recording("cell").recording.isWaiting)

        // It waits after a restart too.
        let daemon = try await daemon()
        let track = daemon.recordings.track(for: .um)
        try await running(daemon) {
            read(20, amperes: 1, into: track)
            try await eventually("it is written") {
                try await store.runningRecordings().map(\.isWaiting) == [false]
            }
        }

        let begun = try #require(track.recording)
        #expect(begun.id != waiting.id && begun.name == "cell")
        #expect(try await store.record(RecordKey(type: .recording, name: begun.id.recordName)) != nil)
        #expect(try await store.runningRecordings().map(\.id) == [begun.id])
    }

    @Test func testThatWaits_isCalledOff() async throws {
        let daemon = try await daemon()
        _ = try await daemon.recordings.start(.um, name: "cell", test: try test(startAbove: 0.5))
        let again = await #expect(throws: GatewayError.self) { try await daemon.recordings.start(.um, name: nil) }
        #expect(again?.message.contains("a battery test waits") == true)

        let stopped = try await daemon.recordings.stop(.um)

        #expect(try await daemon.recordings.entry(of: stopped).recording.end == .hand)
        #expect(try await daemon.recordings.recordings().isEmpty)
        #expect(try await store.runningRecordings().isEmpty)
    }

    @Test func stopByHand_tellsNobody() async throws {
        let daemon = try await daemon()
        let track = daemon.recordings.track(for: .um)
        try await running(daemon) {
            _ = try await daemon.recordings.start(.um, name: "cell", test: try test())
            read(10, amperes: 1, into: track)
            _ = try await daemon.recordings.stop(.um)
        }

        #expect(notifier.sent.isEmpty)
        #expect(try await store.runningRecordings().isEmpty)
        #expect(try await daemon.recordings.recording("cell").recording.end == .hand)
    }

    @Test func crashBetweenTheWritesOfItsStart_leavesOneTest() async throws {
        let old = RecordingID(host: .temporary, meter: .um, token: 0, started: loop.wallNow)
        let new = RecordingID(host: .temporary, meter: .um, token: 0, started: loop.wallNow + .seconds(60))
        var begun = Recording(id: new, trigger: .threshold, test: try test())
        begun.totals.add(Reading(), step: nil, rules: RecordingRules())
        try await store.keep([Recording(id: old, trigger: .hand, test: try test(startAbove: 0.5)), begun])

        let daemon = try await daemon()

        #expect(try await store.runningRecordings().map(\.id) == [new])
        #expect(daemon.recordings.track(for: .um).recording?.id == new)
    }
}

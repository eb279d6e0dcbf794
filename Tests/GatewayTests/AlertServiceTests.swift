import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AlertServiceTests {
    private let loop = VirtualLoop()
    private let access = ScriptedAccess()
    private let store: MeterStore
    private let notifier = ScriptedNotifier("phone", "lamp")
    private let log = LogBook()

    init() { store = .temporary(through: access) }

    /// A daemon's alerts. Another service on the same store is the daemon after a restart.
    private func service() -> AlertService {
        AlertService(meters: Meters(), repository: store, notifier: notifier, loop: loop, logger: log.logger)
    }

    private func read(_ volts: Double, into track: AlertTrack) {
        var reading = Reading()
        reading[.voltage] = volts
        track.append(TimedReading(wallTime: loop.wallNow, time: loop.now, reading: reading))
    }

    /// Runs the service while `body` does something.
    private func running(_ service: AlertService, _ body: () async throws -> Void) async throws {
        async let run: Void = service.run()
        do {
            try await body()
        } catch {
            service.finish()
            await run
            throw error
        }
        service.finish()
        await run
    }

    private func failure(_ body: () async throws -> some Sendable) async -> GatewayError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? GatewayError
        }
    }

    @Test func alert_isTold_whenRaisedAndWhenOver() async throws {
        let service = service()
        service.ask { meters in Dictionary(uniqueKeysWithValues: meters.map { ($0, .init(name: "bench")) }) }
        let track = service.track(for: .um)
        _ = try await service.add("voltage > 5V", of: .um, name: "high", notify: ["phone"])

        try await running(service) {
            read(6, into: track)
            try await eventually("what was told arrives") { notifier.sent.count == 1 }
            loop.advance(by: .seconds(20))
            read(1, into: track)
            try await eventually("what was told arrives") { notifier.sent.count == 2 }
        }

        #expect(notifier.sent.map(\.notice.event) == [.raised, .cleared])
        #expect(notifier.sent.map(\.number) == [1, 2])
        #expect(notifier.sent.first?.notice.title == "high: bench")
        #expect(notifier.sent.first?.notice.message == "voltage > 5V; it is 6.0 V now")
        #expect(try await store.alertNotices().isEmpty)
        #expect(try await store.alerts().map(\.standing.count) == [1])
    }

    @Test func restart_neitherTellsTwice_norForgets() async throws {
        let first = service()
        let track = first.track(for: .um)
        _ = try await first.add("voltage > 5V", of: .um, name: nil, notify: ["phone"])
        try await running(first) {
            read(6, into: track)
            try await eventually("what was told arrives") { notifier.sent.count == 1 }
        }

        let second = service()
        try await second.restore()
        #expect(second.raisedCount == 1)
        let again = second.track(for: .um)
        try await running(second) {
            loop.advance(by: .seconds(1))
            read(6, into: again)
            loop.advance(by: .seconds(1))
            read(1, into: again)
            try await eventually("what was told arrives") { notifier.sent.count == 2 }
        }

        #expect(notifier.sent.map(\.notice.event) == [.raised, .cleared])
        #expect(notifier.sent.map(\.number) == [1, 2])
    }

    @Test func undelivered_isTriedAgain_alsoAfterARestart() async throws {
        notifier.answer("phone", .failed("no connection"))
        let first = service()
        let track = first.track(for: .um)
        _ = try await first.add("voltage > 5V", of: .um, name: nil, notify: ["phone", "lamp"])
        try await running(first) {
            read(6, into: track)
            try await eventually("what was told arrives") { notifier.sent.count == 2 }
        }
        #expect(try await store.alertNotices().map(\.target) == ["phone"])
        #expect(first.targets.first { $0.name == "phone" }?.error == "no connection")

        notifier.answer("phone", .delivered)
        let second = service()
        try await second.restore()
        try await running(second) {
            loop.advance(by: .seconds(1))
            try await eventually("what was told arrives") { notifier.sent.count == 3 }
        }

        #expect(notifier.sent.last?.number == 1)
        #expect(notifier.sent.last?.notice.event == .raised)
        #expect(try await store.alertNotices().isEmpty)
    }

    @Test func storeThatFails_delaysNobody_andIsWrittenLater() async throws {
        let service = service()
        let track = service.track(for: .um)
        _ = try await service.add("voltage > 5V", of: .um, name: nil, notify: ["phone"])
        access.failWrites(with: StoreError(.diskFull, "full"))

        try await running(service) {
            read(6, into: track)
            try await eventually("what was told arrives") { notifier.sent.count == 1 }
            access.failWrites(with: nil)
            loop.advance(by: .seconds(2))
            try await eventually("what was told arrives") { try await store.alerts().first?.standing.isRaised == true }
        }

        #expect(try await store.alertNotices().isEmpty)
    }

    @Test func silence_isNoticedByTime() async throws {
        let service = service()
        try await service.restore()
        let track = service.track(for: .um)
        _ = try await service.add("stale for 5s", of: .um, name: nil, notify: ["phone"])

        try await running(service) {
            for _ in 0..<30 {
                loop.advance(by: .seconds(1))
                read(5, into: track)
            }
            #expect(service.raisedCount == 0)
            try await eventually("what was told arrives") {
                loop.advance(by: .seconds(1))
                return notifier.sent.count == 1
            }
        }

        #expect(service.raisedCount == 1)
    }

    @Test func holder_isAskedFor_andItsChangeTold() async throws {
        let service = service()
        let zone = HolderOf(.um, "alpha")
        service.ask { await zone.facts(of: $0) }
        _ = try await service.add("holder changes", of: .um, name: nil, notify: ["phone"])

        try await running(service) {
            try await eventually("the first holder is seen") {
                loop.advance(by: .seconds(1))
                return service.entries.first?.standing.holder == "alpha"
            }
            await zone.become("beta")
            try await eventually("what was told arrives") {
                loop.advance(by: .seconds(1))
                return notifier.sent.count == 1
            }
        }

        #expect(notifier.sent.first?.notice.event == .happened)
        #expect(notifier.sent.first?.notice.holder == "beta")
    }

    private actor HolderOf {
        private let meter: MeterID
        private var holder: String

        init(_ meter: MeterID, _ holder: String) { (self.meter, self.holder) = (meter, holder) }

        func become(_ other: String) { holder = other }

        func facts(of meters: [MeterID]) -> [MeterID: AlertService.MeterFacts] {
            meters.contains(meter) ? [meter: AlertService.MeterFacts(holder: holder)] : [:]
        }
    }

    @Test func twoRulesOfAMeter_goTheirOwnWays() async throws {
        let service = service()
        let track = service.track(for: .um)
        let low = try await service.add("voltage > 5V", of: .um, name: nil, notify: [])
        let high = try await service.add("voltage > 9V", of: .um, name: nil, notify: [])

        read(6, into: track)
        #expect(service.entries.filter(\.standing.isRaised).map(\.rule.id) == [low.rule.id])
        read(10, into: track)
        #expect(service.raisedCount == 2)
        _ = try await service.remove("\(low.rule.id)")

        #expect(service.entries.map(\.rule.id) == [high.rule.id])
        #expect(service.raisedCount == 1)
    }

    @Test func alert_isALineOfTheMetersLog() async throws {
        let kept = LogKeeper(meters: Meters(), repository: store, loop: loop, logger: log.logger)
        let service = AlertService(
            meters: Meters(), repository: store, notifier: notifier, log: kept, loop: loop, logger: log.logger)
        let track = service.track(for: .um)
        _ = try await service.add("voltage > 5V", of: .um, name: "high", notify: [])

        read(6, into: track)
        loop.advance(by: .seconds(1))
        read(1, into: track)

        #expect(
            try await kept.entries(of: [.um]).map(\.event)
                == [.alert("high", outcome: "raised"), .alert("high", outcome: "over")])
    }

    @Test func rules_areBounded() async throws {
        let service = service()
        for _ in 0..<AlertService.rulesMax { _ = try await service.add("stale", of: .um, name: nil, notify: []) }

        #expect(await failure { try await service.add("stale", of: .um, name: nil, notify: []) }?.code == .refused)
    }

    @Test func meterWithoutRules_leavesNothing_whenItsSessionEnds() async throws {
        let bench = DirectoryBench(alerts: service())
        try await bench.plugIn(.um25c)
        #expect(try await bench.status().id == "\(MeterID.um)")
        _ = await bench.leave()
    }

    @Test func hostThatStops_tellsNothing() async throws {
        let service = service()
        let bench = DirectoryBench(alerts: service)
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(5))
        _ = try await service.add("state is not data-available", of: .um, name: nil, notify: ["phone"])
        #expect(service.raisedCount == 0)

        async let run: Void = service.run()
        await bench.directory.shutdown()
        service.finish()
        await run

        #expect(notifier.sent.isEmpty)
        #expect(try await store.alerts().map(\.standing.isRaised) == [false])
    }
}

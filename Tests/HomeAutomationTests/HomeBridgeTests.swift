import CoreTestKit
import Domain
import Gateway
import Logging
import MeterTestKit
import Synchronization
import Testing

@testable import HomeAutomation

/// The bridge with a broker that does what the test says, over virtual time.
struct HomeBridgeTests {
    private static let id = MeterID.mac(MACAddress(bits: 0x02_00_00_00_25_0C))
    private static let topics = BrokerTopics(host: "bench", id: HostID(high: 1, low: 2))

    /// A bridge with one meter, which has a new reading each second.
    private final class Bench: Sendable {
        let loop = VirtualLoop()
        let broker: ScriptedBroker
        let bridge: HomeBridge
        let log = LogBook()
        let meter: Mutex<BridgedMeter>
        let asked: Mutex<[MeterRequest]>

        init(accepts: Bool = true, outcome: RequestOutcome = .done(state: "ready")) {
            broker = ScriptedBroker(accepts: accepts)
            var first = BridgedMeter(
                id, state: .dataAvailable, since: WallTime(millisecondsSince1970: 0), isWanted: true)
            first.name = "Bench"
            meter = Mutex(first)
            asked = Mutex([])
            let box = Box()
            bridge = HomeBridge(
                BridgeMachine.Settings(topics: topics, version: "1"),
                HomeBridge.Dependencies(
                    link: broker, loop: loop, meters: { box.bench.map { [$0.present] } ?? [] },
                    perform: { request, _ in
                        box.bench?.asked.withLock { $0.append(request) }
                        return outcome
                    }, rng: SeededRNG(seed: 1)),
                logger: log.logger)
            box.set(self)
        }

        private var present: BridgedMeter {
            var reading = Reading()
            reading[.voltage] = 5
            reading[.energy] = 1
            let timed = TimedReading(wallTime: loop.wallNow, time: loop.now, reading: reading)
            return meter.withLock { meter in
                if meter.hasData { meter.reading = timed }
                return meter
            }
        }

        /// Lets seconds pass, one look after the other. What the broker says meanwhile is heard before time goes on.
        func pass(_ seconds: Int) async throws {
            for _ in 0..<seconds {
                await loop.timers(reach: 1)
                loop.advance(by: .seconds(1))
                try await eventually("the broker is heard") { bridge.queue.isEmpty }
                // And what comes of it.
                _ = await bridge.status
            }
            await loop.timers(reach: 1)
        }

        /// How the bridge is doing, once it is as asked: what a broker says is heard a moment later.
        func status(_ condition: (HomeBridge.Status) -> Bool) async throws -> HomeBridge.Status {
            let patience = Patience("the bridge is as asked")
            while true {
                let status = await bridge.status
                if condition(status) { return status }
                try await patience.turn()
            }
        }

        /// Runs the bridge for as long as `body` takes, then ends it and lets the time for that pass.
        func run(_ body: @Sendable () async throws -> Void) async throws {
            let run = Task<Void, any Error> { await bridge.run() }
            do {
                try await body()
            } catch {
                run.cancel()
                throw error
            }
            bridge.finish()
            try await loop.advance(until: run)
            #expect(loop.pendingTimers == 0)
        }
    }

    /// For closures that are made before what they belong to.
    private final class Box: Sendable {
        private struct Weak: @unchecked Sendable { weak var bench: Bench? }
        private let kept = Mutex(Weak())
        var bench: Bench? { kept.withLock { $0.bench } }
        func set(_ bench: Bench) { kept.withLock { $0.bench = bench } }
    }

    @Test func meter_isAnnounced_andItsReadingsGoOut() async throws {
        let bench = Bench()
        let topics = Self.topics

        try await bench.run {
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
            try await bench.pass(10)
            await bench.broker.until { $0.count(topics.state(Self.id)) == 3 }
        }

        let seen = bench.broker.now
        #expect(seen.wills == [BrokerMessage(topics.bridge, "offline", isRetained: true)])
        #expect(seen.subscriptions == [topics.allRequests, "homeassistant/status"])
        #expect(seen.count(topics.discovery(Self.id)) == 1)
        #expect(seen.published.last == BrokerMessage(topics.bridge, "offline", isRetained: true))
        #expect(bench.log.entries(saying: "meter announced").count == 1)
    }

    /// Whoever carries messages to the broker is woken once for all that one look at the meters brings.
    @Test func messagesOfOneLook_goTogether() async throws {
        let bench = Bench()
        let topics = Self.topics

        try await bench.run {
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
            try await bench.pass(1)
            let first = bench.broker.now
            // The bridge's own word, announcement, status, availability and the reading at least.
            #expect(first.published.count >= 5)
            #expect(first.batches == 1)
            try await bench.pass(3)
            #expect(bench.broker.now.batches == 1)
        }
    }

    @Test func outage_costsNoReading() async throws {
        let bench = Bench()
        let topics = Self.topics

        try await bench.run {
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
            bench.broker.lose(accepting: false)
            try await bench.pass(60)
            #expect(await bench.bridge.status.backlog >= 11)
            #expect(await bench.bridge.status.trouble != nil)
            bench.broker.forget()
            bench.broker.lose(accepting: true)
            try await bench.pass(120)
            await bench.broker.until { $0.count(topics.backlog(Self.id)) >= 11 }
        }

        let late = bench.broker.now.published.filter { $0.topic == topics.backlog(Self.id) }.map(\.text)
        #expect(late == late.sorted())
        #expect(bench.log.entries(saying: "broker not connected").first?.level == .warning)
        #expect(bench.log.entries(saying: "broker connected").last?.values["outage"] != nil)
    }

    @Test func status_tellsWhatWasTold_sinceWhen_andWhyThereIsNoLink() async throws {
        let bench = Bench()
        let topics = Self.topics
        #expect(await bench.bridge.status.since == nil)

        try await bench.run {
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
            try await bench.pass(10)
            let up = try await bench.status { $0.queued == 0 }
            #expect(up.isConnected && up.hearsRequests && up.trouble == nil)
            #expect(up.linksOpened == 1 && up.queued == 0)
            #expect(up.published == bench.broker.now.published.count)
            bench.broker.refuseToTell()
            _ = try await bench.status { !$0.hearsRequests }

            bench.broker.lose("gone", accepting: false)
            _ = try await bench.status { !$0.isConnected }
            try await bench.pass(20)
            let down = await bench.bridge.status
            #expect(!down.isConnected && down.trouble == BrokerTrouble("gone"))
            #expect(down.queued == down.backlog && down.backlog > 0)
            let (began, lost) = (try #require(up.since), try #require(down.since))
            #expect(lost.millisecondsSince1970 - began.millisecondsSince1970 == 10_000)

            bench.broker.lose(accepting: true)
            try await bench.pass(60)
            let again = try await bench.status { $0.isConnected }
            #expect(again.isConnected && again.hearsRequests && again.linksOpened == 2)
            #expect(try #require(again.since) > lost)
        }
    }

    @Test func request_isCarriedOut_andAnswered() async throws {
        let bench = Bench()
        let topics = Self.topics

        try await bench.run {
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
            bench.broker.send(BrokerMessage(topics.request(Self.id), "next-screen"))
            await bench.broker.until { $0.last(topics.response(Self.id.topicKey)) != nil }
        }

        #expect(bench.asked.withLock { $0.map(\.kind) } == [.command(MeterCommand(.nextScreen))])
        #expect(bench.broker.now.last(topics.response(Self.id.topicKey))?.text.contains("\"status\":\"ok\"") == true)
    }

    @Test func birth_tellsEverythingAnew() async throws {
        let bench = Bench()
        let topics = Self.topics

        try await bench.run {
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
            bench.broker.send(BrokerMessage("homeassistant/status", "online"))
            await bench.broker.until { $0.count(topics.discovery(Self.id)) == 2 }
        }

        #expect(bench.log.entries(saying: "Home Assistant started: all meters are announced again").count == 1)
    }

    /// However much a stranger sends, the meters' own words still go out.
    @Test func flood_doesNotKeepReadingsBack() async throws {
        let bench = Bench()
        let topics = Self.topics

        try await bench.run {
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
            for number in 0..<5000 {
                bench.broker.send(BrokerMessage(topics.request(Self.id), number.isMultiple(of: 2) ? "fly" : "rotate"))
            }
            bench.broker.forget()
            try await bench.pass(6)
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
        }

        #expect(bench.asked.withLock { $0.count } < 100)
    }

    @Test func brokerThatStalls_isLeft_andEndsNothing() async throws {
        let bench = Bench()
        let topics = Self.topics

        try await bench.run {
            await bench.broker.until { $0.last(topics.state(Self.id)) != nil }
            try await bench.pass(2)
            bench.broker.stall()
            let before = bench.broker.now.closes
            try await bench.pass(40)
            #expect(bench.broker.now.closes > before)
        }
    }

    @Test func lateWordOfAnOldAttempt_isIgnored() async throws {
        let bench = Bench(accepts: false)

        try await bench.run {
            await bench.broker.until { $0.wills.count == 1 }
            let old = bench.broker.listener
            try await bench.pass(32)
            await bench.broker.until { $0.wills.count == 2 }
            old?(.opened)
            old?(.lost(BrokerTrouble("old")))
            try await bench.pass(2)
            #expect(await !bench.bridge.status.isConnected)
        }

        #expect(bench.broker.now.published.isEmpty)
        #expect(!bench.log.entries.contains { $0.values["cause"] == "old" })
    }

    @Test func finish_withoutAnyBroker_endsAtOnce() async throws {
        let bench = Bench(accepts: false)

        try await bench.run { await bench.broker.until { $0.wills.count == 1 } }

        #expect(bench.broker.now.closes >= 1)
    }
}

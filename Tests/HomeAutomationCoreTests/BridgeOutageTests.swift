import CoreTestKit
import Domain
import Testing

/// Brokers that go, stall and refuse.
struct BridgeOutageTests {
    private let topics = Sample.topics

    @Test func readingsOfAnOutage_arriveWithTheirTimes_inOrder() {
        var bench = Bench.open()
        bench.observe([Sample.meter(reading: 0)], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.lose(at: 2)
        for second in 3...60 {
            // No attempt comes of it: the machine waits for an answer that the test does not give.
            bench.observe([Sample.meter(reading: Double(second))], at: Double(second))
        }
        bench.clear()
        for second in 61...100 {
            bench.observe([Sample.meter(reading: 60)], at: Double(second))
            bench.take(bench.machine.linkOpened(at: Sample.at(Double(second))))
            bench.acknowledgeAll(at: Double(second))
        }

        let times = bench.published.filter { $0.topic == topics.backlog(Sample.id) }.map { $0.text.prefix(34) }
        #expect(times.count >= 9)
        #expect(times == times.sorted())
        #expect(Set(times).count == times.count)
        #expect(bench.machine.backlogCount == 0)
    }

    @Test func unconfirmedReading_isNotLost() {
        var bench = Bench.open()
        bench.observe([Sample.meter(reading: 0)], at: 1)
        let told = bench.last(topics.state(Sample.id))?.payload

        bench.lose(at: 2)
        let waiting = bench.machine.backlogCount
        bench.observe([], at: 4)
        bench.clear()
        bench.take(bench.machine.linkOpened(at: Sample.at(4)))

        #expect(waiting == 1)
        #expect(bench.last(topics.backlog(Sample.id))?.payload == told)
    }

    /// What Home Assistant shows is always the newest; the others are not lost.
    @Test func readingsThatABrokerTakesTooSlowly_goToTheBacklog() {
        var bench = Bench.open()
        let ids = (0..<30).map { MeterID.usb(vendor: 1, product: 2, serial: "\($0)") }
        for second in stride(from: 1.0, through: 21, by: 5) {
            bench.observe(ids.map { Sample.meter($0, reading: second) }, at: second)
        }
        let onTheWay = bench.unacknowledged.count
        bench.acknowledgeAll(at: 22)

        let states = ids.map { id in bench.published.filter { $0.topic == topics.state(id) } }
        let late = ids.map { id in bench.count(topics.backlog(id)) }
        #expect(onTheWay == 20)
        #expect(zip(states, late).allSatisfy { $0.count + $1 == 5 })
        #expect(states.allSatisfy { $0.last?.text.contains("20:27:01.000Z") == true })
    }

    @Test func brokerThatConfirmsNothing_isGivenUp() {
        var bench = Bench.open()
        bench.observe([Sample.meter(reading: 0)], at: 1)
        bench.clear()

        for second in 2...30 { bench.observe([Sample.meter(reading: 0)], at: Double(second)) }
        let before = bench.others
        bench.observe([Sample.meter(reading: 0)], at: 31)

        #expect(before.isEmpty)
        #expect(bench.others.first == .close)
        #expect(!bench.machine.isConnected)
        #expect(bench.machine.trouble?.message == "the broker confirmed nothing for 30 s")
        #expect(bench.machine.trouble?.next != nil)
    }

    @Test func attemptWithoutAnswer_isGivenUp() {
        var bench = Bench()
        bench.take(bench.machine.start(at: Sample.at(0)))
        bench.clear()

        bench.observe([], at: 29)
        let before = bench.others
        bench.observe([], at: 30)

        #expect(before.isEmpty)
        #expect(bench.others.first == .close)
        guard case .lost(let cause, .milliseconds(800), isNew: true)? = bench.notices.first else {
            Issue.record("not told: \(bench.others)")
            return
        }
        #expect(cause.message == "the broker did not answer within 30 s")
        #expect(cause.next != nil)
    }

    @Test func attempts_goOnForEver_evenlySpacedInTheEnd() {
        var bench = Bench()
        bench.take(bench.machine.start(at: Sample.at(0)))
        var waits: [Duration] = []
        var now = 0.0
        for _ in 0..<200 {
            bench.clear()
            bench.take(bench.machine.linkLost(BrokerTrouble("refused"), at: Sample.at(now), random: 200))
            guard case .lost(_, let wait, _)? = bench.notices.first else {
                Issue.record("not told")
                return
            }
            waits.append(wait)
            now += Double(wait.milliseconds) / 1000
            bench.observe([], at: now)
            #expect(bench.others.contains(.open(will: BrokerMessage(topics.bridge, "offline", isRetained: true))))
        }

        #expect(Array(waits.prefix(7)) == [1, 2, 4, 8, 16, 32, 60].map { .seconds($0) })
        #expect(waits.dropFirst(6).allSatisfy { $0 == .seconds(60) })
    }

    @Test func sameCause_isNewOnce() {
        var bench = Bench()
        bench.take(bench.machine.start(at: Sample.at(0)))
        bench.lose("refused", at: 0)
        bench.observe([], at: 10)
        bench.lose("refused", at: 11)
        bench.observe([], at: 30)
        bench.lose("bad password", at: 31)

        let new = bench.notices.compactMap { if case .lost(_, _, let isNew) = $0 { isNew } else { nil } }
        #expect(new == [true, false, true])
    }

    @Test func linkThatLasted_isTriedAgainSoon() {
        var bench = Bench()
        bench.take(bench.machine.start(at: Sample.at(0)))
        for attempt in 0..<6 {
            bench.lose(at: Double(attempt) * 100)
            bench.observe([], at: Double(attempt) * 100 + 99)
        }
        bench.take(bench.machine.linkOpened(at: Sample.at(600)))
        bench.acknowledgeAll(at: 600)
        bench.clear()

        bench.lose(at: 700)

        #expect(bench.notices == [.lost(cause: BrokerTrouble("gone"), retryIn: .seconds(1), isNew: true)])
    }

    /// One that takes us and throws us out at once, as where another client has our name, is not tried every second.
    @Test func linkThatDidNotLast_isNoSuccess() {
        var bench = Bench()
        bench.take(bench.machine.start(at: Sample.at(0)))
        var waits: [Duration] = []
        for attempt in 0..<6 {
            let now = Double(attempt) * 100
            bench.take(bench.machine.linkOpened(at: Sample.at(now)))
            bench.clear()
            bench.lose(at: now + 1)
            waits += bench.notices.compactMap { if case .lost(_, let wait, _) = $0 { wait } else { nil } }
            bench.observe([], at: now + 99)
        }

        #expect(waits == [1, 2, 4, 8, 16, 32].map { .seconds($0) })
    }

    @Test func backlog_isBounded_andSaysSoOnce() {
        var settings = Sample.settings
        settings.backlog.entries = 10
        var bench = Bench.open(settings)
        bench.lose(at: 1)
        bench.clear()

        for second in stride(from: 2.0, to: 202, by: 5) { bench.observe([Sample.meter(reading: second)], at: second) }

        #expect(bench.machine.backlogCount == 10)
        #expect(bench.machine.backlogDropped == 30)
        #expect(bench.notices.count { $0 == .backlogFull } == 1)
    }

    @Test func refusedTopic_isToldOnce() {
        var bench = Bench.open()
        for second in stride(from: 1.0, to: 50, by: 5) {
            bench.observe([Sample.meter(reading: second)], at: second)
            for number in bench.unacknowledged {
                bench.take(bench.machine.acknowledged(number, refusal: "not authorised", at: Sample.at(second)))
            }
            bench.unacknowledged = []
        }

        let refusals = bench.notices.compactMap { if case .publishRefused(let topic, _) = $0 { topic } else { nil } }
        #expect(Set(refusals).count == refusals.count)
        #expect(refusals.contains(topics.state(Sample.id)))
        #expect(bench.machine.backlogCount == 0)
    }
}

/// Whatever a broker does, in whatever order.
struct BridgeMachineRandomTests {
    /// Each reading that was taken is in the end confirmed once or more, waits, or was counted as lost; never more is on
    /// its way than the window, nor more waits than the limit; and after a good while with a good broker nothing waits.
    @Test(arguments: 0..<10)
    func readings_areConfirmedOrCounted(_ portion: Int) {
        for seed in UInt64(portion * 10)..<UInt64(portion * 10 + 10) {
            var random = SeededRNG(seed: seed)
            var settings = Sample.settings
            settings.backlog.entries = 20
            settings.interval = .seconds(1)
            var bench = Bench(settings)
            bench.take(bench.machine.start(at: Sample.at(0)))
            var world = World(bench: bench)

            for second in 1...200 { world.step(&random, second) }
            for second in 201...400 { world.goodStep(second) }

            #expect(world.unacknowledgedMax <= 20, "seed \(seed)")
            #expect(world.backlogMax <= 20, "seed \(seed)")
            #expect(world.bench.machine.backlogCount == 0, "seed \(seed)")
            #expect(
                world.confirmed.count + world.bench.machine.backlogDropped >= world.taken.count,
                "seed \(seed): \(world.confirmed.count) of \(world.taken.count)")
            #expect(world.confirmed.isSubset(of: world.taken), "seed \(seed)")
        }
    }

    private struct World {
        var bench: Bench
        /// What the machine published, by its number.
        var sent: [PacketNumber: BrokerMessage] = [:]
        var taken: Set<[UInt8]> = []
        var confirmed: Set<[UInt8]> = []
        var unacknowledgedMax = 0
        var backlogMax = 0

        mutating func step(_ random: inout SeededRNG, _ second: Int) {
            let now = Sample.at(Double(second))
            observe(second, random: random.next())
            switch random.below(12) {
            case 0: perform(bench.machine.linkLost(BrokerTrouble("gone"), at: now, random: random.next()))
            case 1...3: perform(bench.machine.linkOpened(at: now))
            case 4...8: confirm(random.below(25), at: now)
            case 9: perform(bench.machine.received(BrokerMessage("homeassistant/status", "online"), at: now))
            case 10:
                let bytes = (0..<random.below(20)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                perform(bench.machine.received(BrokerMessage(Sample.topics.request(Sample.id), bytes), at: now))
            default: break
            }
        }

        mutating func goodStep(_ second: Int) {
            let now = Sample.at(Double(second))
            perform(bench.machine.observed([], at: now, random: 0))
            perform(bench.machine.linkOpened(at: now))
            confirm(.max, at: now)
        }

        private mutating func observe(_ second: Int, random: UInt64) {
            perform(
                bench.machine.observed(
                    [Sample.meter(reading: Double(second))], at: Sample.at(Double(second)), random: random))
            taken.insert(Array(Sample.reading(Double(second)).wallTime.description.utf8))
            backlogMax = max(backlogMax, bench.machine.backlogCount)
        }

        private mutating func perform(_ actions: [BridgeMachine.Action]) {
            for action in actions {
                switch action {
                case .publish(let number, let message): sent[number] = message
                case .close, .open: sent = [:]
                case .tell(.lost): sent = [:]
                default: break
                }
            }
            unacknowledgedMax = max(unacknowledgedMax, sent.count)
        }

        private mutating func confirm(_ count: Int, at now: MonotonicTime) {
            var left = count
            while left > 0, let number = sent.keys.min(), let message = sent.removeValue(forKey: number) {
                left -= 1
                if message.topic.hasSuffix("/state") || message.topic.hasSuffix("/backlog"),
                    message.payload.starts(with: Array(#"{"time":""#.utf8))
                {
                    confirmed.insert(Array(message.payload.dropFirst(9).prefix(24)))
                }
                perform(bench.machine.acknowledged(number, at: now))
            }
        }
    }
}

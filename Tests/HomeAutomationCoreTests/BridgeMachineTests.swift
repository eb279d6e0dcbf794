import Domain
import Testing

/// The link, and what is told over it.
struct BridgeMachineTests {
    private let topics = Sample.topics

    @Test func start_connectsWithAWill() {
        var machine = BridgeMachine(Sample.settings)

        let actions = machine.start(at: Sample.at(0))

        #expect(actions == [.open(will: BrokerMessage(topics.bridge, "offline", isRetained: true))])
    }

    @Test func linkOpened_saysOnline_andListens() {
        var bench = Bench()
        bench.take(bench.machine.start(at: Sample.at(0)))
        bench.clear()

        bench.take(bench.machine.linkOpened(at: Sample.at(1)))

        #expect(
            bench.others == [
                .tell(.connected(outage: nil, backlog: 0, dropped: 0)),
                .subscribe([topics.allRequests, "homeassistant/status"]),
            ])
        #expect(bench.published == [BrokerMessage(topics.bridge, "online", isRetained: true)])
        #expect(bench.machine.isConnected)
    }

    @Test func marks_areToldEach_whileThereIsALink() {
        let at = WallTime(millisecondsSince1970: 1_780_000_000_000)
        let marks = ["on", "off"].map { BridgedMark(id: "1a2b", meter: Sample.id, name: $0, start: at, end: nil) }
        var bench = Bench()
        bench.take(bench.machine.start(at: Sample.at(0)))
        bench.take(bench.machine.observed([], marks: marks, at: Sample.at(0), random: 0))
        bench.take(bench.machine.linkOpened(at: Sample.at(1)))
        bench.clear()

        bench.take(bench.machine.observed([], marks: marks, at: Sample.at(2), random: 0))

        #expect(bench.published.map(\.topic) == Array(repeating: "metergateway/meter/02000000250c/mark", count: 2))
        #expect(
            String(decoding: bench.published.last?.payload ?? [], as: UTF8.self)
                == #"{"id":"1a2b","name":"off","from":"\#(at)","to":null,"gateway":"bench-1a2b3c4d"}"#)
        #expect(bench.published.allSatisfy { !$0.isRetained })
    }

    @Test func idsThatMetersHadBefore_areEmptied_once() {
        let old = MeterID.port(host: "pi", path: "/dev/ttyUSB0")
        var settings = Sample.settings
        settings.formerMeters = [old]

        let bench = Bench.open(settings)

        let emptied = bench.published.filter { $0.payload.isEmpty && $0.isRetained }.map(\.topic)
        #expect(
            Set(emptied) == [
                topics.state(old), topics.status(old), topics.availability(old), topics.discovery(old),
            ])
        #expect(emptied.count == 4)
    }

    @Test func meter_isAnnounced_withItsFirstReading() {
        var bench = Bench.open()

        bench.observe([Sample.meter(reading: nil)], at: 1)
        let before = bench.count(topics.discovery(Sample.id))
        bench.observe([Sample.meter(reading: 1.5)], at: 2)

        #expect(before == 0)
        #expect(bench.count(topics.discovery(Sample.id)) == 1)
        #expect(bench.last(topics.discovery(Sample.id))?.isRetained == true)
        #expect(bench.notices.contains(.announced(Sample.id)))
        #expect(bench.last(topics.availability(Sample.id))?.text == "online")
    }

    /// After a restart the broker still has "online" of the run before.
    @Test func wantedMeter_isSaidToBeOffline_beforeItHasData() {
        var bench = Bench.open()

        bench.observe([Sample.meter(reading: nil)], at: 1)

        #expect(bench.last(topics.availability(Sample.id))?.text == "offline")
        #expect(bench.last(topics.status(Sample.id))?.text.contains("\"state\":\"connecting\"") == true)
    }

    @Test func meterThatNobodyWants_isNotSpokenOf() {
        var bench = Bench.open()
        var meter = Sample.meter(reading: nil)
        (meter.isWanted, meter.state) = (false, .notConnected)
        bench.clear()

        bench.observe([meter], at: 1)

        #expect(bench.published.isEmpty)
    }

    @Test func meterThatWasLetGo_staysAnnounced_andOffline() {
        var bench = Bench.open()
        bench.observe([Sample.meter(reading: 1)], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()
        var meter = Sample.meter(reading: 1)
        (meter.isWanted, meter.state) = (false, .notConnected)

        bench.observe([meter], at: 2)

        #expect(Set(bench.published.map(\.topic)) == [topics.status(Sample.id), topics.availability(Sample.id)])
        #expect(bench.last(topics.availability(Sample.id))?.text == "offline")
        #expect(bench.last(topics.status(Sample.id))?.text.contains("\"wanted\":false") == true)
    }

    @Test func readings_goOutOncePerInterval_withTheirTime() {
        var bench = Bench.open()

        for second in 1...21 {
            bench.observe([Sample.meter(reading: Double(second) - 0.25)], at: Double(second))
            bench.acknowledgeAll(at: Double(second))
        }

        let times = bench.published.filter { $0.topic == topics.state(Sample.id) }.map { String($0.text.prefix(34)) }
        #expect(times.count == 5)
        #expect(times.first == #"{"time":"2026-05-28T20:26:40.750Z""#)
        #expect(times.last == #"{"time":"2026-05-28T20:27:00.750Z""#)
    }

    @Test func sameReading_isNotToldTwice() {
        var bench = Bench.open()

        for second in 1...30 { bench.observe([Sample.meter(reading: 0.5)], at: Double(second)) }

        #expect(bench.count(topics.state(Sample.id)) == 1)
    }

    @Test func unknownQuantity_isNull() {
        var bench = Bench.open()

        bench.observe([Sample.meter(reading: 0)], at: 1)

        let text = bench.last(topics.state(Sample.id))?.text
        #expect(
            text == #"{"time":"2026-05-28T20:26:40.000Z","voltage_V":5.0,"energy_Wh":1.5,"temperature_C":null}"#)
    }

    @Test func newName_isAnnounced() {
        var bench = Bench.open()
        bench.observe([Sample.meter()], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()
        var meter = Sample.meter()
        meter.name = "Kitchen"

        bench.observe([meter], at: 2)

        #expect(bench.published.map(\.topic) == [topics.discovery(Sample.id)])
        #expect(bench.published.first?.text.contains("\"name\":\"Kitchen\"") == true)
    }

    @Test func newQuantity_isAnnounced_andNoneIsTakenBack() {
        var bench = Bench.open()
        bench.observe([Sample.meter(reading: 1)], at: 1)
        var richer = Sample.meter(reading: 2)
        richer.reading?.reading[.current] = 0.5
        bench.observe([richer], at: 2)
        bench.acknowledgeAll(at: 2)

        bench.observe([Sample.meter(reading: 3)], at: 3)

        #expect(bench.count(topics.discovery(Sample.id)) == 2)
        #expect(bench.last(topics.discovery(Sample.id))?.text.contains("current_A") == true)
    }

    @Test func birth_tellsEverythingAnew() {
        var bench = Bench.open()
        bench.observe([Sample.meter(), Sample.meter(Sample.other)], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()

        bench.take(bench.machine.received(BrokerMessage("homeassistant/status", "online"), at: Sample.at(10)))
        bench.acknowledgeAll(at: 10)

        for id in [Sample.id, Sample.other] {
            for topic in [
                topics.discovery(id), topics.state(id), topics.status(id), topics.availability(id),
            ] { #expect(bench.count(topic) == 1, "\(topic)") }
        }
        #expect(bench.last(topics.bridge)?.text == "online")
        #expect(bench.machine.backlogCount == 0)
    }

    @Test func birthsInARow_countOnce_andTheLastIsNotForgotten() {
        var bench = Bench.open()
        bench.observe([Sample.meter()], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()

        for _ in 0..<1000 {
            bench.take(bench.machine.received(BrokerMessage("homeassistant/status", "online"), at: Sample.at(10)))
            bench.acknowledgeAll(at: 10)
        }
        let atOnce = bench.count(topics.discovery(Sample.id))
        bench.observe([Sample.meter()], at: 12)
        bench.observe([Sample.meter()], at: 15)
        bench.acknowledgeAll(at: 15)

        #expect(atOnce == 1)
        #expect(bench.count(topics.discovery(Sample.id)) == 2)
    }

    @Test func homeAssistantThatStops_changesNothing() {
        var bench = Bench.open()
        bench.observe([Sample.meter()], at: 1)
        bench.clear()

        bench.take(bench.machine.received(BrokerMessage("homeassistant/status", "offline"), at: Sample.at(10)))

        #expect(bench.published.isEmpty && bench.others.isEmpty)
    }

    @Test func meterOfAnotherHost_isYielded_thenNotSpokenOf() {
        var bench = Bench.open()
        bench.observe([Sample.meter()], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()
        var meter = Sample.meter()
        (meter.isElsewhere, meter.holder, meter.state) = (true, "attic", .notConnected)

        bench.observe([meter], at: 2)
        bench.acknowledgeAll(at: 2)
        let words = bench.published
        bench.clear()
        meter.holder = "cellar"
        bench.observe([meter], at: 200)
        bench.take(bench.machine.received(BrokerMessage("homeassistant/status", "online"), at: Sample.at(300)))

        #expect(words.map(\.topic) == [topics.status(Sample.id), topics.availability(Sample.id)])
        #expect(words.first?.text.contains("\"holder\":\"attic\"") == true)
        #expect(words.last?.text == "offline")
        #expect(bench.published.map(\.topic) == [topics.bridge])
    }

    @Test func meterThatComesBack_isAnnouncedWithThisGateway() {
        var bench = Bench.open()
        var meter = Sample.meter()
        bench.observe([meter], at: 1)
        meter.isElsewhere = true
        bench.observe([meter], at: 2)
        bench.acknowledgeAll(at: 2)
        bench.clear()

        bench.observe([Sample.meter(reading: 3)], at: 3)

        #expect(bench.last(topics.discovery(Sample.id))?.text.contains(topics.bridge) == true)
        #expect(bench.last(topics.availability(Sample.id))?.text == "online")
    }

    /// A host that let go may have been heard after the one that has it now.
    @Test func statusAndAvailability_areToldAgain_soon_thenEveryMinute() {
        var bench = Bench.open()
        var told: [Int] = []
        for second in 1...125 {
            let before = bench.count(topics.availability(Sample.id))
            bench.observe([Sample.meter(reading: 0)], at: Double(second))
            bench.acknowledgeAll(at: Double(second))
            if bench.count(topics.availability(Sample.id)) > before { told.append(second) }
        }

        #expect(told == [1, 6, 66])
        #expect(bench.count(topics.status(Sample.id)) == 3)
        #expect(bench.count(topics.discovery(Sample.id)) == 1)
    }

    @Test func meterThatIsGone_isTakenOutOfHomeAssistant() {
        var bench = Bench.open()
        bench.observe([Sample.meter(), Sample.meter(Sample.other)], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()

        bench.observe([Sample.meter()], at: 2)
        bench.acknowledgeAll(at: 2)

        let other = Sample.other
        #expect(
            bench.published.map(\.topic) == [
                topics.discovery(other), topics.state(other), topics.status(other), topics.availability(other),
            ])
        #expect(bench.published.allSatisfy { $0.payload.isEmpty && $0.isRetained })
    }

    @Test func stop_saysOffline_andEndsWithItsAcknowledgement() {
        var bench = Bench.open()
        bench.observe([Sample.meter()], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()

        bench.take(bench.machine.stop(at: Sample.at(2)))
        let goodbye = bench.published
        bench.acknowledgeAll(at: 2)

        #expect(goodbye == [BrokerMessage(topics.bridge, "offline", isRetained: true)])
        #expect(bench.others == [.close, .finished])
    }

    @Test func stop_doesNotWaitForABrokerThatSaysNothing() {
        var bench = Bench.open()
        bench.clear()

        bench.take(bench.machine.stop(at: Sample.at(2)))
        bench.observe([], at: 3)
        let early = bench.others
        bench.observe([], at: 4)

        #expect(early.isEmpty)
        #expect(bench.others == [.close, .finished])
    }

    @Test func stop_withoutALink_endsAtOnce() {
        var waiting = Bench()
        waiting.take(waiting.machine.stop(at: Sample.at(0)))
        var opening = Bench()
        opening.take(opening.machine.start(at: Sample.at(0)))
        opening.clear()
        opening.take(opening.machine.stop(at: Sample.at(0)))

        #expect(waiting.others == [.finished])
        #expect(opening.others == [.close, .finished])
        #expect(opening.machine.start(at: Sample.at(1)).isEmpty)
    }
}

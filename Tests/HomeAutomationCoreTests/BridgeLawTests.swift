import Testing

@testable import Domain

/// The bridge at its exact limits, in the wrong order, and the second time.
struct BridgeLawTests {
    private let topics = Sample.topics

    @Test func limits_areThoseOfTheDocumentation() {
        let settings = Sample.settings
        #expect(settings.interval == .seconds(5) && settings.birthInterval == .seconds(5))
        #expect(settings.openTimeout == .seconds(30) && settings.answerTimeout == .seconds(30))
        #expect(settings.stableAfter == .seconds(30) && settings.goodbyeTimeout == .seconds(2))
        #expect(settings.firstRefresh == .seconds(5) && settings.refreshInterval == .seconds(60))
        #expect(settings.shortestWait == .seconds(1) && settings.longestWait == .seconds(60))
        #expect(Backlog.Limits().entries == 10_000 && Backlog.Limits().bytes == 4_194_304)
        #expect(Outbox.windowSize == 20 && Outbox.responsesMax == 32)
        #expect(BrokerRequests.performingMax == 8 && BrokerRequests.messagesPerTick == 20)
        #expect(PublishedAlerts.momentSeconds == 30 && RefusedTopics.countMax == 100)
        #expect(MeterRequest.payloadMax == 1024 && settings.formerMeters.isEmpty)
    }

    // MARK: News

    /// Each fact by itself is news of a meter.
    @Test func meter_isTheSame_onlyWhereEveryFactIs() {
        let changes: [(inout BridgedMeter) -> Void] = [
            { $0.id = Sample.other }, { $0.name = "x" }, { $0.model = "x" }, { $0.serial = "x" }, { $0.firmware = "x" },
            { $0.hardware = "x" }, { $0.state = .offline }, { $0.since = $0.since + .seconds(1) },
            { $0.isWanted = false }, { $0.isElsewhere = true }, { $0.holder = "x" }, { $0.transport = "x" },
            { $0.error = "x" }, { $0.abilities = [] }, { $0.countedSince = $0.since },
        ]
        let meter = Sample.meter()
        #expect(meter.isSame(as: meter))
        for (place, change) in changes.enumerated() {
            var other = meter
            change(&other)
            #expect(!meter.isSame(as: other) && !other.isSame(as: meter), "\(place)")
        }
        // Readings come all the time.
        var later = Sample.meter(reading: 9)
        later.told = TelemetryBody()
        #expect(meter.isSame(as: later))
        #expect(BridgedMeter.Ability(.brightness, 0...5).step == 1)
    }

    @Test func alert_isAnnouncedAnew_whereWhatPeopleSeeOfItChanges() {
        let changes: [(inout BridgedAlert) -> Void] = [
            { $0.name = "x" }, { $0.condition = "x" }, { $0.meter = Sample.other }, { $0.isMomentary = true },
        ]
        for change in changes {
            var bench = Bench.open()
            let alert = BridgedAlert(number: 7, meter: Sample.id, condition: "voltage > 5V")
            bench.take(bench.machine.observed([], alerts: [alert], at: Sample.at(1), random: 0))
            bench.acknowledgeAll(at: 1)
            bench.clear()
            var other = alert
            other.isRaised = true
            bench.take(bench.machine.observed([], alerts: [other], at: Sample.at(2), random: 0))
            #expect(bench.published.map(\.topic) == [topics.alert(7)])
            bench.clear()
            change(&other)
            bench.take(bench.machine.observed([], alerts: [other], at: Sample.at(3), random: 0))
            #expect(bench.published.map(\.topic) == [topics.alertDiscovery(7), topics.alert(7)])
        }
    }

    /// What lasts is told to a broker and to Home Assistant again; what does not, is not.
    @Test func alerts_areToldAgain_whereTheyLast() throws {
        var lasting = BridgedAlert(number: 1, meter: Sample.id, condition: "voltage > 5V")
        lasting.isRaised = true
        var moment = BridgedAlert(number: 2, meter: Sample.id, condition: "holder changes")
        moment.isMomentary = true
        var bench = Bench.open()
        bench.take(bench.machine.observed([], alerts: [lasting, moment], at: Sample.at(1), random: 0))
        #expect(bench.count(topics.alert(2)) == 0, "it happened before this run, or never")
        #expect(bench.last(topics.alertDiscovery(2))?.text.contains(#""off_delay":30"#) == true)
        #expect(bench.last(topics.alertDiscovery(1))?.text.contains("off_delay") == false)
        #expect(bench.last(topics.alertDiscovery(1))?.text.contains(#""qos":1"#) == true)
        #expect(bench.last(topics.alertDiscovery(1))?.isRetained == true)
        moment.count = 1
        bench.take(bench.machine.observed([], alerts: [lasting, moment], at: Sample.at(2), random: 0))
        #expect(bench.last(topics.alert(2))?.text.hasPrefix(#"{"state":"ON""#) == true)
        bench.acknowledgeAll(at: 2)
        for again in ["birth", "link"] {
            bench.clear()
            if again == "birth" {
                bench.take(bench.machine.received(BrokerMessage("homeassistant/status", "online"), at: Sample.at(20)))
            } else {
                bench.lose(at: 30)
                bench.take(bench.machine.observed([], alerts: [lasting, moment], at: Sample.at(40), random: 0))
                bench.take(bench.machine.linkOpened(at: Sample.at(40)))
            }
            bench.acknowledgeAll(at: 40)
            #expect(
                bench.count(topics.alertDiscovery(1)) == 1 && bench.count(topics.alertDiscovery(2)) == 1, "\(again)")
            #expect(bench.count(topics.alert(1)) == 1 && bench.count(topics.alert(2)) == 0, "\(again)")
        }
        // One that never happened is off, once it is told at all.
        moment.count = 0
        bench.take(bench.machine.observed([], alerts: [lasting, moment], at: Sample.at(41), random: 0))
        #expect(bench.last(topics.alert(2))?.text.hasPrefix(#"{"state":"OFF""#) == true)
        #expect(bench.last(topics.alert(2))?.text.contains(#""count":0"#) == true)
    }

    @Test func ruleThatIsGoneMeanwhile_isTakenAway_onceTheBrokerIsBack_andOnce() {
        let alert = BridgedAlert(number: 7, meter: Sample.id, condition: "stale")
        var bench = Bench.open()
        bench.take(bench.machine.observed([], alerts: [alert], at: Sample.at(1), random: 0))
        bench.acknowledgeAll(at: 1)
        bench.lose(at: 2)
        bench.take(bench.machine.observed([], alerts: [], at: Sample.at(2.5), random: 0))
        bench.clear()
        bench.reopen(at: 4)
        bench.acknowledgeAll(at: 4)
        #expect(
            bench.published.filter { $0.payload.isEmpty }.map(\.topic) == [topics.alertDiscovery(7), topics.alert(7)])
        bench.clear()
        bench.take(bench.machine.observed([], alerts: [], at: Sample.at(5), random: 0))
        bench.lose(at: 6)
        bench.reopen(at: 20)
        bench.acknowledgeAll(at: 20)
        #expect(bench.published.map(\.topic) == [topics.bridge])
    }

    // MARK: Order and late words

    /// A link that is open is not opened again, and what is said without one is said to nobody.
    @Test func wordsAtTheWrongTime_changeNothing() {
        var bench = Bench()
        bench.take(bench.machine.linkOpened(at: Sample.at(0)))
        bench.ask("connect", at: 0)
        bench.take(bench.machine.received(BrokerMessage("homeassistant/status", "online"), at: Sample.at(0)))
        #expect(bench.others.isEmpty && bench.published.isEmpty && !bench.machine.isConnected)
        bench = Bench.open()
        bench.clear()
        bench.take(bench.machine.linkOpened(at: Sample.at(1)))
        #expect(bench.others.isEmpty && bench.published.isEmpty && bench.machine.linksOpened == 1)
        #expect(bench.machine.start(at: Sample.at(1)).isEmpty)
        bench.lose(at: 2)
        bench.clear()
        bench.ask("connect", at: 2)
        bench.take(bench.machine.linkOpened(at: Sample.at(2)))
        #expect(bench.others.isEmpty && bench.published.isEmpty)
    }

    /// However much waits, the goodbye is the next and the last word.
    @Test func goodbye_goesPastAFullWindow_andNothingFollowsIt() {
        var bench = Bench.open()
        let meters = (0..<30).map { Sample.meter(.usb(vendor: 1, product: 2, serial: "\($0)")) }
        bench.observe(meters, at: 1)
        #expect(bench.unacknowledged.count == 20)
        let late = bench.unacknowledged
        bench.clear()
        bench.take(bench.machine.stop(at: Sample.at(2)))
        #expect(bench.published == [BrokerMessage(topics.bridge, "offline", isRetained: true)])
        for number in late { bench.take(bench.machine.acknowledged(number, at: Sample.at(2))) }
        bench.observe(meters, at: 3)
        bench.ask("connect", at: 3)
        bench.take(bench.machine.stop(at: Sample.at(3)))
        #expect(bench.published.count == 1 && bench.others.isEmpty)
        bench.observe(meters, at: 4)
        #expect(bench.others == [.close, .finished])
        bench.clear()
        for second in 5...200 { bench.observe(meters, at: Double(second)) }
        bench.take(bench.machine.linkLost(BrokerTrouble("gone"), at: Sample.at(201), random: 0))
        bench.take(bench.machine.start(at: Sample.at(202)))
        bench.take(bench.machine.stop(at: Sample.at(202)))
        #expect(bench.others.isEmpty && bench.published.isEmpty)
    }

    @Test func stoppedWhileItWaits_staysStopped() {
        var bench = Bench.open()
        bench.lose(at: 1)
        bench.clear()
        bench.take(bench.machine.stop(at: Sample.at(2)))
        #expect(bench.others == [.finished])
        bench.observe([Sample.meter()], at: 100)
        bench.take(bench.machine.stop(at: Sample.at(101)))
        #expect(bench.others == [.finished] && bench.published.isEmpty)
    }

    /// What waited when the link was lost is old: a new link begins with its own words, each once.
    @Test func newLink_beginsAnew() {
        var bench = Bench.open()
        let meters = (0..<30).map { Sample.meter(.usb(vendor: 1, product: 2, serial: "\($0)")) }
        bench.observe(meters, at: 1)
        bench.lose(at: 2)
        bench.clear()
        bench.reopen(at: 4)
        bench.acknowledgeAll(at: 4)
        #expect(bench.published.first == BrokerMessage(topics.bridge, "online", isRetained: true))
        for meter in meters.map(\.id) {
            for topic in [topics.discovery(meter), topics.status(meter), topics.availability(meter)] {
                #expect(bench.count(topic) <= 1, "\(topic)")
            }
        }
        #expect(bench.machine.queueCount == 0)
    }

    /// A broker that hangs is given up, and what it did not confirm goes to the next link.
    @Test func unconfirmed_isTold_afterABrokerThatHung() {
        var bench = Bench.open()
        bench.observe([Sample.meter(reading: 0)], at: 1)
        bench.observe([Sample.meter(reading: 0)], at: 31)
        #expect(!bench.machine.isConnected && bench.machine.backlogCount == 1)
        bench.unacknowledged = []
        bench.clear()
        bench.observe([], at: 40)
        bench.take(bench.machine.linkOpened(at: Sample.at(40)))
        bench.acknowledgeAll(at: 40)
        #expect(bench.count(topics.backlog(Sample.id)) == 1)
    }

    /// Said when it begins, in each outage, also before the first link.
    @Test func backlogThatOverflows_isSaidInEachOutage() {
        var settings = Sample.settings
        settings.backlog.entries = 2
        var bench = Bench(settings)
        bench.take(bench.machine.start(at: Sample.at(0)))
        func full() -> Int { bench.notices.count { $0 == .backlogFull } }
        for number in 0..<2 { bench.observe([Sample.meter(reading: Double(number))], at: Double(5 * number)) }
        #expect(full() == 0)
        bench.observe([Sample.meter(reading: 2)], at: 10)
        #expect(full() == 1)
        bench.observe([Sample.meter(reading: 3)], at: 15)
        #expect(full() == 1)
        bench.take(bench.machine.linkOpened(at: Sample.at(16)))
        #expect(bench.notices.contains(.connected(outage: nil, backlog: 2, dropped: 2)))
        bench.acknowledgeAll(at: 16)
        bench.observe([Sample.meter(reading: 16)], at: 20)
        bench.acknowledgeAll(at: 20)
        #expect(full() == 1)
        bench.lose(at: 21)
        for number in 5..<8 { bench.observe([Sample.meter(reading: Double(5 * number))], at: Double(5 * number)) }
        #expect(full() == 2)
    }

    /// A single one is enough.
    @Test(arguments: [1, 3])
    func requestsThatWereLeftOut_areSaidWithTheNextLook(count: Int) {
        var bench = Bench.open()
        bench.machine.overrun(by: count)
        bench.observe([], at: 1)
        bench.observe([], at: 2)
        #expect(bench.notices.filter { $0 == .requestsIgnored(count) }.count == 1)
    }

    // MARK: Meters that go

    @Test func meterThatGoesWithoutALink_isNotSpokenOf_andOneThatWasNeverOursIsLeftAlone() {
        var bench = Bench.open()
        var foreign = Sample.meter(Sample.other, reading: nil)
        (foreign.isElsewhere, foreign.holder) = (true, "attic")
        bench.observe([Sample.meter(), foreign], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()
        bench.observe([Sample.meter()], at: 2)
        #expect(bench.published.isEmpty && bench.notices.isEmpty)
        bench.lose(at: 3)
        bench.clear()
        var yielded = Sample.meter()
        yielded.isElsewhere = true
        bench.observe([yielded], at: 3.2)
        bench.observe([], at: 3.5)
        #expect(bench.notices.isEmpty && bench.published.isEmpty)
        bench.reopen(at: 10)
        bench.acknowledgeAll(at: 10)
        #expect(bench.published.filter { !$0.topic.contains("backlog") }.map(\.topic) == [topics.bridge])
    }

    /// An id that a meter had is emptied with the first link alone, unless it is a meter's again.
    @Test func formerIDs_areEmptiedWithTheFirstLink() {
        let old = MeterID.port(host: "pi", path: "/dev/ttyUSB0")
        var settings = Sample.settings
        settings.formerMeters = [old, Sample.id]
        var bench = Bench(settings)
        bench.take(bench.machine.start(at: Sample.at(0)))
        bench.observe([Sample.meter()], at: 0)
        bench.take(bench.machine.linkOpened(at: Sample.at(1)))
        bench.acknowledgeAll(at: 1)
        #expect(bench.published.filter { $0.payload.isEmpty }.count == 4)
        #expect(bench.published.filter { $0.payload.isEmpty }.allSatisfy { $0.topic.contains(old.topicKey) })
        bench.clear()
        bench.lose(at: 2)
        bench.reopen(at: 10)
        bench.acknowledgeAll(at: 10)
        #expect(bench.published.allSatisfy { !$0.payload.isEmpty })
    }

    // MARK: Texts

    @Test func requests_haveTheirEnds() throws {
        let connect = "connect" + String(repeating: " ", count: 1017)
        #expect(try MeterRequest(Array(connect.utf8)) == MeterRequest(.connect(takeover: false)))
        #expect(throws: MeterRequest.Problem.self) { try MeterRequest(Array((connect + " ").utf8)) }
        for (count, isLegal) in [(100, true), (101, false)] {
            let transaction = String(repeating: "é", count: count)
            let request = try? MeterRequest(Array("{\"command\":\"connect\",\"transaction\":\"\(transaction)\"}".utf8))
            #expect(request?.transaction == (isLegal ? transaction : nil))
        }
        for text in [
            #"{"command":"connect","takeover":null,"transaction":null,"number":null}"#,
            #"{"command":"connect","takeover":false}"#, "\t connect",
        ] { #expect(try MeterRequest(Array(text.utf8)) == MeterRequest(.connect(takeover: false)), "\(text)") }
        for text in [
            #"{"command":"connect","takeover":1}"#, #"{"command":"connect","transaction":true}"#,
            #"{"command":"disconnect","number":1}"#, #"{"command":"connect","number":1}"#,
            #"{"command":"rotate","takeover":false}"#, #"{"command":null}"#, "connect disconnect",
        ] { #expect(throws: MeterRequest.Problem.self, "\(text)") { try MeterRequest(Array(text.utf8)) } }
        for (count, shown) in [(40, String(repeating: "x", count: 40)), (41, String(repeating: "x", count: 40) + "…")] {
            let error = #expect(throws: MeterRequest.Problem.self) {
                try MeterRequest(Array(String(repeating: "x", count: count).utf8))
            }
            #expect(error?.message == "\"\(shown)\" is not a command")
        }
    }

    @Test func topics_haveTheirEnds() {
        let id = HostID(high: 0x1A2B_3C4D_0000_4000, low: 1)
        #expect(BrokerTopics(host: "", id: id).gateway == "gateway-1a2b3c4d")
        #expect(BrokerTopics(host: "aZ0-_.é", id: id).gateway == "aZ0-___-1a2b3c4d")
        let long = String(repeating: "x", count: 65)
        #expect(BrokerTopics(host: long, id: id).gateway == String(long.prefix(64)) + "-1a2b3c4d")
        #expect(BrokerTopics.isPrefix(String(repeating: "a", count: 100)))
        for (count, isKey) in [(1, true), (200, true), (201, false), (0, false)] {
            let key = String(repeating: "k", count: count)
            #expect(
                topics.requestKey(in: "\(topics.base)/bridge/\(topics.gateway)/request/\(key)") == (isKey ? key : nil))
        }
        #expect(topics.requestKey(in: "x\(topics.base)/bridge/\(topics.gateway)/request/k") == nil)
        #expect(topics.alert(7).hasSuffix("/alert/7"))
    }

    /// A command is called as people say it, and asks for what it takes.
    @Test func command_isAnEntity_withItsRange() throws {
        let maker = EntityMaker(meter: Sample.meter(), topics: topics, expiresAfter: 75)
        let button = try #require(maker.command(.init(.nextScreen))).value.text
        #expect(
            button.contains(#""name":"Next screen""#)
                && button.contains(#""unique_id":"metergateway_02000000250c_next_screen""#))
        #expect(button.contains(#""entity_category":"config""#))
        let number = try #require(maker.command(.init(.brightness, 1...9, step: 2))).value.text
        #expect(number.contains(#""min":1,"max":9,"step":2,"mode":"box""#) && number.contains(#""name":"Brightness""#))
        #expect(maker.command(.init(.loadOn)) == nil && maker.command(.init(.clearGroup)) == nil)
        let discovery = DeviceDiscovery(topics: topics, version: "1", interval: .seconds(5))
        let text = discovery.announcement(of: Sample.meter(), quantities: QuantitySet(.voltage)).text
        #expect(text.hasSuffix(#""qos":1}"#))
    }
}

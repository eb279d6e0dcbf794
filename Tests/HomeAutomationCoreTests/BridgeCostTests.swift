import CoreTestKit
import Domain
import Testing

/// What it costs to look at the meters each second: payloads are made of what changed, and of nothing else.
struct BridgeCostTests {
    private static let ids = (0..<10).map { MeterID.mac(MACAddress(bits: 0x02_00_00_00_00_00 + UInt64($0))) }
    private let topics = Sample.topics

    /// Ten meters as they go: two readings a second, looked at once a second.
    @Test func tenMeters_makeOnePayloadForEachMessage_andNoMore() {
        var bench = Bench.open()
        for second in 1...6 { look(&bench, at: second) }
        let made = bench.machine.payloadsMade
        bench.clear()
        for second in 7...66 { look(&bench, at: second) }

        let readings = Self.ids.map { bench.count(topics.state($0)) }
        let statuses = Self.ids.map { bench.count(topics.status($0)) }
        #expect(readings == Array(repeating: 12, count: 10))
        // Told again at 6 s and then at 66 s.
        #expect(statuses == Array(repeating: 1, count: 10))
        #expect(bench.machine.payloadsMade - made == 10 * (12 + 1))
        // Availability is a word that needs no making.
        #expect(bench.published.count == 10 * (12 + 1 + 1))
    }

    private func look(_ bench: inout Bench, at second: Int) {
        bench.observe(Self.ids.map { Sample.meter($0, reading: Double(second) - 0.25) }, at: Double(second))
        bench.acknowledgeAll(at: Double(second))
    }

    @Test func metersWithoutNews_makeNothing() {
        var bench = Bench.open()
        look(&bench, at: 1)
        bench.observe(Self.ids.map { Sample.meter($0, reading: 0.75) }, at: 6)
        bench.acknowledgeAll(at: 6)
        let made = bench.machine.payloadsMade
        bench.clear()

        for second in 7...60 { bench.observe(Self.ids.map { Sample.meter($0, reading: 0.75) }, at: Double(second)) }

        #expect(bench.machine.payloadsMade == made)
        #expect(bench.published.isEmpty && bench.others.isEmpty)
    }

    /// While there is no broker the readings are kept, and nothing else is made.
    @Test func outage_makesReadingsOnly() {
        var bench = Bench.open()
        look(&bench, at: 1)
        bench.lose(at: 2)
        let (made, kept) = (bench.machine.payloadsMade, bench.machine.backlogCount)

        for second in 3...62 {
            bench.observe(Self.ids.map { Sample.meter($0, reading: Double(second)) }, at: Double(second))
        }

        #expect(bench.machine.payloadsMade - made == 10 * 12)
        #expect(bench.machine.backlogCount - kept == 10 * 12)
    }

    /// Whatever else a meter has, a change of it is news: a property that is new has to be one as well.
    @Test func eachProperty_butTheReading_tellsTwoMetersApart() {
        let meter = Sample.meter()
        let changes: [String: (inout BridgedMeter) -> Void] = [
            "id": { $0.id = Sample.other }, "name": { $0.name = "Kitchen" }, "model": { $0.model = nil },
            "serial": { $0.serial = "1" }, "firmware": { $0.firmware = "2" }, "hardware": { $0.hardware = "3" },
            "state": { $0.state = .communicating }, "since": { $0.since = WallTime(millisecondsSince1970: 1) },
            "isWanted": { $0.isWanted = false }, "isElsewhere": { $0.isElsewhere = true },
            "holder": { $0.holder = "attic" }, "transport": { $0.transport = "ble" }, "error": { $0.error = "gone" },
            "abilities": { $0.abilities = [] },
            "countedSince": { $0.countedSince = WallTime(millisecondsSince1970: 1) },
        ]
        for (name, change) in changes {
            var other = meter
            change(&other)
            #expect(!meter.isSame(as: other), "\(name)")
        }
        var later = meter
        (later.reading, later.told) = (nil, TelemetryBody())

        #expect(meter.isSame(as: later))
        let names = Mirror(reflecting: meter).children.compactMap(\.label)
        #expect(Set(names) == Set(changes.keys).union(["reading", "told"]))
    }

    /// After each look the broker has of each meter what is so at that moment, whatever happened before.
    @Test(arguments: 0..<20) func broker_hasWhatIsSo_afterEachLook(portion: Int) {
        var checks = 0
        for seed in UInt64(portion * 10)..<UInt64(portion * 10 + 10) {
            var world = World(seed: seed)
            for second in 1...150 { world.step(Double(second)) }
            checks += world.checks
        }
        // One that looks at nothing finds nothing.
        #expect(checks > 500)
    }

    /// Three meters to which anything happens, and a broker that keeps what is retained, and may forget it.
    private struct World {
        let seed: UInt64
        var rng: SeededRNG
        var bench = Bench.open()
        var meters: [BridgedMeter]
        var retained: [String: BrokerMessage] = [:]
        var isOpen = true
        var checks = 0

        init(seed: UInt64) {
            self.seed = seed
            rng = SeededRNG(seed: seed)
            meters = BridgeCostTests.ids.prefix(3).map { Sample.meter($0, reading: nil) }
        }

        mutating func step(_ second: Double) {
            for index in meters.indices {
                var meter = meters[index]
                change(&meter, second)
                meters[index] = meter
            }
            if rng.next() % (isOpen ? 40 : 8) == 0 { changeLink(second) }
            bench.observe(meters, at: second)
            bench.acknowledgeAll(at: second)
            for message in bench.published where message.isRetained { retained[message.topic] = message }
            bench.clear()
            guard isOpen else { return }
            for meter in meters { check(meter) }
        }

        private mutating func change(_ meter: inout BridgedMeter, _ second: Double) {
            if meter.hasData, rng.next() % 4 != 0 { meter.reading = Sample.reading(second - 0.25) }
            switch rng.next() % 60 {
            case 0: meter.name = "name \(rng.next() % 3)"
            case 1: meter.error = rng.next() % 2 == 0 ? nil : "error \(rng.next() % 3)"
            case 2: meter.isWanted.toggle()
            case 3: (meter.isElsewhere, meter.holder) = (!meter.isElsewhere, "host \(rng.next() % 2)")
            case 4: meter.transport = rng.next() % 2 == 0 ? nil : "serial"
            case 5: meter.reading?.reading[.current] = 1
            case 6...12:
                meter.state = ConnectionState.allCases[Int(rng.next() % UInt64(ConnectionState.allCases.count))]
                meter.since = WallTime(millisecondsSince1970: Int64(second) * 1000)
            default: break
            }
        }

        /// The broker goes, with or without what it kept, and the next attempt succeeds at once.
        private mutating func changeLink(_ second: Double) {
            if isOpen {
                bench.lose(at: second)
                if rng.next() % 2 == 0 { retained = [:] }
                isOpen = false
            } else {
                // However long it waits before that attempt.
                bench.take(bench.machine.observed(meters, at: Sample.at(second), random: 0))
                bench.take(bench.machine.linkOpened(at: Sample.at(second)))
                isOpen = bench.machine.isConnected
            }
        }

        private mutating func check(_ meter: BridgedMeter) {
            let topics = Sample.topics
            guard meter.isWanted, !meter.isElsewhere else { return }
            checks += 1
            let holder = meter.holder.map { "\"\($0)\"" } ?? "null"
            let transport = meter.transport.map { "\"\($0)\"" } ?? "null"
            let error = meter.error.map { "\"\($0)\"" } ?? "null"
            #expect(
                retained[topics.status(meter.id)]?.text == """
                    {"state":"\(meter.state.rawValue)","since":"\(meter.since)","wanted":true,"holder":\(holder),\
                    "gateway":"\(topics.gateway)","transport":\(transport),"error":\(error)}
                    """, "seed \(seed)")
            #expect(
                retained[topics.availability(meter.id)]?.text == (meter.hasData ? "online" : "offline"),
                "seed \(seed)")
            guard let announced = retained[topics.discovery(meter.id)]?.text else {
                #expect(meter.reading == nil, "seed \(seed): a meter with a reading is not announced")
                return
            }
            #expect(announced.contains("\"name\":\"\(meter.name ?? "")\""), "seed \(seed)")
        }
    }
}

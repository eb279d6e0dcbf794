import Domain
import MeterCodec
import MeterSimulator
import Testing

/// Messages of devices behind a broker, as others published them, and what they say.
struct SmartPlugMachineTests {
    /// A machine whose link to the broker is up, and what came of it.
    private struct Bench {
        var now = MonotonicTime.origin
        var wall = WallTime(millisecondsSince1970: 1_790_000_000_000)
        var machine: SmartPlugMachine
        private(set) var heard: [String] = []

        init(_ plug: SmartPlugDescription) { machine = SmartPlugMachine(plug, at: .origin) }

        mutating func hear(_ topic: String, _ payload: String, isRetained: Bool = false) {
            take(machine.received(BrokerMessage(topic, payload, isRetained: isRetained), at: now, wall))
        }

        mutating func pass(_ time: Duration) {
            now = now + time
            take(machine.woke(at: now))
        }

        private mutating func take(_ actions: [SmartPlugMachine.Action]) {
            heard += actions.map { action in
                switch action {
                case .opened: "opened"
                case .line(let bytes): String(decoding: bytes.dropLast(), as: UTF8.self)
                case .close(let reason): "closed: \(reason)"
                }
            }
        }
    }

    private static func plug(
        _ preset: SmartPlugPreset, _ topic: String, channel: Int? = nil, component: String = "switch:0",
        isPolled: Bool = false
    ) throws -> SmartPlugDescription {
        try #require(preset.description(topic, channel: channel, component: component, isPolled: isPolled))
    }

    @Test(arguments: [
        // arendst/Tasmota issue 1621.
        (
            SmartPlugPreset.tasmotaTelemetry, "switch:0", nil as Int?, "tele/desk/SENSOR",
            #"{"Time":"2018-01-17T18:59:50","ENERGY":{"Total":1.956,"Yesterday":0.054,"Today":0.049,"Period":0,"Power":9,"Factor":0.43,"Voltage":231,"Current":0.089}}"#,
            #"{"voltage":231.0,"current":0.089,"power":9.0,"energy":1956.0,"power_factor":0.43,"frequency":null}"#
        ),
        // evcc-io/evcc issue 18879: three phases, of which one is asked for.
        (
            .tasmotaTelemetry, "switch:0", 0, "stat/desk/STATUS10",
            #"{"StatusSNS": {"Time": "2025-02-16T21:28:28","ENERGY": {"TotalStartTime": "2024-08-14T20:17:44","Total": 0,"Power": [1,0,0],"Factor": [0.16,0,0],"Frequency": [50,50,50],"Voltage": [230,230,230],"Current": [0.022,0,0]}}}"#,
            #"{"voltage":230.0,"current":0.022,"power":1.0,"energy":0.0,"power_factor":0.16,"frequency":50.0}"#
        ),
        // iobroker-community-adapters/ioBroker.shelly issue 813: the part `switch:0`.
        (
            .shellyStatus, "switch:0", nil, "desk/status/switch:0",
            #"{"id":0, "source":"init", "output":true, "apower":0.0, "voltage":229.1, "current":0.000, "aenergy":{"total":30473.355,"by_minute":[0.000,0.000,0.000],"minute_ts":1698999953},"temperature":{"tC":34.8, "tF":94.7}}"#,
            #"{"voltage":229.1,"current":0.0,"power":0.0,"energy":30473.355,"power_factor":null,"frequency":null,"temperature":34.8}"#
        ),
        // Jan200101/ShellyPy issue 20.
        (
            .shellyStatus, "em1:1", nil, "desk/status/em1:1",
            #"{"id": 1,"current": 2.598,"voltage": 234.9,"act_power": 501.8,"aprt_power": 612.4,"pf": 0.84,"freq": 50,"calibration": "factory"}"#,
            #"{"voltage":234.9,"current":2.598,"power":501.8,"power_factor":0.84,"frequency":50.0,"energy":null}"#
        ),
        // dhcgn/mqtt-dispatcher, README: three phases have no common voltage.
        (
            .shellyStatus, "em:0", nil, "desk/status/em:0",
            #"{"id": 0,"a_current": 0.595,"a_voltage": 225.3,"total_current": 2.5,"total_act_power": -60.2}"#,
            #"{"current":2.5,"power":-60.2,"energy":null}"#
        ),
        // Lines of the first Shellies are plain numbers; 50 watt-minutes are 0.833 Wh.
        (.shellyFirst, "switch:0", nil, "shellies/desk/relay/0/power", "101.123", #"{"power":101.123,"energy":null}"#),
        (.shellyFirst, "switch:0", 1, "shellies/desk/relay/1/energy", "50", #"{"power":null,"energy":0.833333333}"#),
    ])
    func message_isRead(
        preset: SmartPlugPreset, component: String, channel: Int?, topic: String, payload: String, line: String
    ) throws {
        var bench = Bench(try Self.plug(preset, "desk", channel: channel, component: component))

        bench.hear(topic, payload)

        #expect(bench.heard == ["opened", line])
        #expect(bench.machine.remark == nil)
        let reading = Self.reading(line)
        #expect(reading?.supported.contains(.power) == true)
    }

    private static func reading(_ line: String) -> Reading? {
        var driver = SmartPlugFamily().driver(for: .mqttMeter, over: .network)
        var reading: Reading?
        driver?.receive(Array("\(line)\n".utf8)) { event in
            if case .frame(let frame) = event { frame.forEachReading { reading = $0 } }
        }
        return reading
    }

    /// Alternating current: volts times amperes is no power.
    @Test func powerThatIsNotTold_isUnknown() throws {
        let values = [
            SmartPlugDescription.Value(.voltage, topic: "t", path: ["u"]),
            SmartPlugDescription.Value(
                .current, topic: "t", path: ["i"], unit: try #require(ScaledUnit("mA", of: .current))),
        ]
        var bench = Bench(SmartPlugDescription(key: "t", values: values))

        bench.hear("t", #"{"u":"230.5","i":310}"#)

        #expect(bench.heard == ["opened", #"{"voltage":230.5,"current":0.31,"power":null}"#])
        #expect(Self.reading(bench.heard[1])?[.power] == nil)
    }

    @Test func availability_opensAndEnds() throws {
        var bench = Bench(try Self.plug(.tasmotaTelemetry, "desk"))
        bench.hear("tele/desk/LWT", "Offline", isRetained: true)
        bench.hear("tele/desk/LWT", "Online", isRetained: true)
        bench.hear("tele/desk/SENSOR", #"{"ENERGY":{"Power":1}}"#, isRetained: true)
        bench.hear("tele/desk/LWT", "Offline")

        #expect(bench.heard.map { $0.prefix(6) } == ["closed", "opened", "closed"])
        #expect(bench.heard.last?.contains("desk is offline") == true)
        // zigbee2mqtt says it in JSON.
        var plug = SmartPlugDescription(key: "t", values: [.init(.power, topic: "t", path: ["power"])])
        plug.availability = .init(topic: "t/availability")
        var other = Bench(plug)
        other.hear("t/availability", #"{"state":"online"}"#)
        #expect(other.heard == ["opened"])
    }

    @Test func broker_withoutNews_opensAfterTwoSeconds_andSilenceIsRemarked() throws {
        var bench = Bench(try Self.plug(.shellyStatus, "desk"))
        bench.pass(.milliseconds(1999))
        #expect(bench.heard.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.heard == ["opened"])
        bench.pass(.seconds(90))
        #expect(bench.machine.remark?.contains("status_ntf") == true)
        bench.hear("desk/status/switch:0", #"{"apower":1}"#)
        #expect(bench.machine.remark == nil)
        #expect(bench.machine.nextWake == nil)
    }

    /// A value from another topic is repeated until it is too old.
    @Test func values_growOld() throws {
        var bench = Bench(try Self.plug(.shellyFirst, "desk"))
        bench.hear("shellies/desk/relay/0/energy", "60")
        bench.pass(.seconds(150))
        bench.hear("shellies/desk/relay/0/power", "5")
        bench.pass(.milliseconds(1))
        bench.hear("shellies/desk/relay/0/power", "6")

        #expect(
            bench.heard.dropFirst() == [
                #"{"power":null,"energy":1.0}"#, #"{"power":5.0,"energy":1.0}"#, #"{"power":6.0,"energy":null}"#,
            ])
    }

    @Test(arguments: [
        ("tele/desk/SENSOR", #"{"Time":"2024-02-24T22:20:38","Switch1":"ON"}"#, nil as String?),
        ("tele/desk/SENSOR", "ON", "is not JSON"), ("tele/desk/SENSOR", "{", "is not JSON"),
        ("tele/desk/SENSOR", #"{"ENERGY":{"Power":[1,2,3]}}"#, "has 3 phases"),
        ("tele/desk/STATE", #"{"ENERGY":{"Power":1}}"#, nil),
        ("tele/desk/SENSOR", String(repeating: #"{"ENERGY":"#, count: 200), "is not JSON"),
    ])
    func messageWithoutAMeasurement_isNoReading(topic: String, payload: String, remark: String?) throws {
        var bench = Bench(try Self.plug(.tasmotaTelemetry, "desk"))
        bench.hear("tele/desk/LWT", "Online")

        bench.hear(topic, payload)

        #expect(bench.heard == ["opened"])
        #expect(remark.map { bench.machine.remark?.contains($0) == true } ?? (bench.machine.remark == nil))
    }

    @Test(arguments: [
        ("1790000000", true), ("1790000000000", true), ("1789999849", false), (#""2026-09-21T14:13:20Z""#, true),
        (#""2026-09-21T14:00:00+00:00""#, false),
        // Of an unknown zone, or from a clock that is ahead: its arrival counts.
        (#""2026-09-21T01:00:00""#, true), ("1890000000", true), ("null", true),
    ])
    func timeOfMeasurement_decidesWhetherItIsRecent(time: String, isRead: Bool) throws {
        var plug = SmartPlugDescription(key: "t", values: [.init(.power, topic: "t", path: ["p"])])
        plug.timePath = ["at"]
        var bench = Bench(plug)

        bench.hear("t", "{\"at\":\(time),\"p\":5}")

        #expect(bench.heard == (isRead ? ["opened", #"{"power":5.0}"#] : []))
        #expect((bench.machine.remark == nil) == isRead)
    }

    @Test(arguments: [
        (#"{"a":{"b":[1,{"c":2.5}]}}"#, "a.b.1.c", 2.5 as Double?), (#" {"a": "3.5 "} "#, "a", nil),
        (#"{"a":"3.5"}"#, "a", 3.5),
        (#"{"a":1,"a":2}"#, "a", 1), (#"{"a":1e999}"#, "a", nil), (#"{"a":"NaN"}"#, "a", nil), (#"[[7]]"#, "0.0", 7),
        ("12.5 ", "", 12.5), ("unavailable", "", nil), ("{}", "a", nil), (#"{"a":1}x"#, "a", nil),
        (#"{"a":2e9}"#, "a", nil),
    ])
    func placesInMessages_areFound(payload: String, path: String, value: Double?) {
        let places = [
            SmartPlugDescription.Value(.power, topic: "t", path: path.split(separator: ".").map(String.init))
        ]
        var bench = Bench(SmartPlugDescription(key: "t", values: places))

        bench.hear("t", payload)

        let lines = bench.heard.dropFirst()
        #expect(lines.first.flatMap { Self.reading($0)?[.power] } == value, "\(bench.heard)")
    }

    /// The simulated devices' messages give what the simulated meter measures, through the real path.
    @Test(arguments: SmartPlugPreset.allCases)
    func simulatedDevice_isRead(preset: SmartPlugPreset) throws {
        let model: ModelName = preset == .tasmotaTelemetry ? .tasmota : .shelly
        let board = try #require(SimulatorCatalogue.standard.meter(model, over: .network))
        var device = try #require(SimulatedSmartPlug(board, as: preset, topic: "desk"))
        let description = try Self.plug(preset, "desk", isPolled: preset == .tasmotaTelemetry)
        var bench = Bench(description)
        bench.hear(device.birth.topic, device.birth.text, isRetained: true)
        for message in device.due(at: .seconds(5), bench.wall) { bench.hear(message.topic, message.text) }
        if let request = description.request {
            let answers = device.received(request, at: .seconds(6), bench.wall)
            #expect(answers.count == 1)
            for answer in answers { bench.hear(answer.topic, answer.text) }
        }
        bench.hear(device.will.topic, device.will.text, isRetained: true)

        let power = bench.heard.dropFirst().compactMap { Self.reading($0)?[.power] }.last
        #expect(bench.heard.first == "opened" && bench.heard.last?.hasPrefix("closed") == true, "\(bench.heard)")
        #expect((50...70).contains(power ?? 0), "\(bench.heard)")
    }
}

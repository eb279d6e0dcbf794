import Domain
import ESPHomeCore
import MeterCodec
import MeterSimulator
import SimulatedPort
import Testing

/// A node's sensors as one meter.
struct NodeMeterTests {
    /// A meter's machine in front of a node that says what a test has it say, in plain text.
    private struct Bench {
        var now = MonotonicTime.origin
        var machine: NodeMeter
        private(set) var lines: [String] = []
        private(set) var isOpen = false
        private(set) var failure: String?
        private var wire: [APIFrame] = []

        static let node = NodeSettings(host: "shelf.local", mac: MACAddress(bits: 1), table: "[[esphome.meter]]")

        init(
            _ sensors: [ProtoMessage<SensorInfo>], names: [Quantity: String] = [:], maxAge: Duration = .seconds(90),
            friendlyName: String = ""
        ) {
            machine = NodeMeter(Self.node, names: names, maxAge: maxAge, .plaintext, at: .origin)
            take(machine.begin(at: now))
            let info = DeviceInfoResponse.made {
                ($0.name, $0.mac, $0.friendlyName) = ("shelf", "00:00:00:00:00:01", friendlyName)
            }
            hear(
                [HelloResponse.made { _ in }.frame, info.frame] + sensors.map(\.frame) + [EmptyMessage.listEntitiesDone]
            )
        }

        /// Frames that arrive together.
        mutating func hear(_ frames: [APIFrame]) {
            take(machine.received(frames.flatMap { FrameWriter.plaintext($0) }, at: now))
        }

        /// What sensors tell together; nil for one without a state.
        mutating func told(_ states: [UInt32: Float?]) {
            hear(
                states.sorted { $0.key < $1.key }.map { key, state in
                    SensorState.made { ($0.key, $0.state, $0.isMissing) = (key, state ?? 0, state == nil) }.frame
                })
        }

        mutating func take(_ actions: [NodeMeterAction]) {
            for action in actions {
                switch action {
                case .send: break
                case .opened: isOpen = true
                case .line(let bytes): lines.append(String(decoding: bytes, as: UTF8.self))
                case .close(let fault): failure = fault.words(of: Self.node)
                }
            }
        }
    }

    private static func sensor(
        _ key: UInt32, _ deviceClass: String, _ unit: String, name: String = "", id: String = "", category: UInt32 = 0
    ) -> ProtoMessage<SensorInfo> {
        SensorInfo.made {
            ($0.key, $0.deviceClass, $0.unit) = (key, deviceClass, unit)
            ($0.name, $0.objectID, $0.category) = (name, id, category)
        }
    }

    private static let ina226 = [
        sensor(1, "voltage", "V", name: "Bus Voltage"), sensor(2, "current", "mA", name: "Bus Current"),
        sensor(3, "power", "W", name: "Bus Power"), sensor(9, "signal_strength", "dBm", name: "WiFi"),
    ]

    // MARK: Readings

    /// What a node remembers at the subscription is of unknown age, and no reading.
    @Test func readings_areWhatSensorsTellTogether_afterTheirFirstStates() {
        var bench = Bench(Self.ina226)
        #expect(bench.isOpen && bench.failure == nil)
        bench.told([1: 11, 2: 500, 3: 5.5, 9: -60])
        #expect(bench.lines == [])
        bench.told([1: 5.02, 2: 310.2, 3: 1.557, 9: -60])
        bench.told([9: -61])
        #expect(bench.lines == ["{\"voltage\":5.02,\"current\":0.3102,\"power\":1.557}\n"])
    }

    @Test func olderValue_isTakenUntilItIsTooOld_andThenNull() {
        var bench = Bench(Self.ina226, maxAge: .seconds(10))
        bench.told([1: 1, 2: 1, 3: 1])
        bench.told([1: 5, 2: 300])
        bench.now = bench.now + .seconds(10)
        bench.told([2: 400])
        bench.now = bench.now + .milliseconds(1)
        bench.told([2: 500])
        #expect(
            bench.lines == [
                "{\"voltage\":5.0,\"current\":0.3,\"power\":null}\n",
                "{\"voltage\":5.0,\"current\":0.4,\"power\":null}\n",
                "{\"voltage\":null,\"current\":0.5,\"power\":null}\n",
            ])
    }

    @Test func unknownStates_areNull_andNeverZero() {
        var bench = Bench(Self.ina226)
        bench.told([1: nil, 2: nil, 3: nil])
        bench.told([1: nil, 2: .nan, 3: .infinity])
        bench.told([1: 3e38, 2: 0, 3: -0.004])
        #expect(
            bench.lines == [
                "{\"voltage\":null,\"current\":null,\"power\":null}\n",
                "{\"voltage\":null,\"current\":0.0,\"power\":-0.004}\n",
            ])
    }

    /// Power of alternating current is not voltage times current, so it is unknown without a sensor; energy without one is
    /// not told of at all.
    @Test(arguments: [
        ([("voltage", "V"), ("current", "A")], "{\"voltage\":2.0,\"current\":2.0,\"power\":null}\n"),
        ([("power", "kW"), ("energy", "kWh")], "{\"power\":2000.0,\"energy\":2000.0}\n"),
        ([("voltage", "mV"), ("temperature", "°C")], "{\"voltage\":0.002,\"temperature\":2.0}\n"),
        ([("current", "µA"), ("energy", "Wh")], "{\"current\":2e-06,\"energy\":2.0}\n"),
    ])
    func quantitiesAndUnits_areThoseOfTheSensors(_ sensors: [(String, String)], line: String) throws {
        var bench = Bench(
            sensors.enumerated().map { Self.sensor(UInt32($0 + 1), $1.0, $1.1, id: "sensor_\($0)") })
        for _ in 1...2 { bench.told([1: 2, 2: 2]) }
        #expect(bench.lines == [line])

        var driver = try #require(MeterCatalogue.standard.driver(for: .esphome, over: .network))
        var readings: [Reading] = []
        driver.receive(Array(line.utf8)) { event in
            guard case .frame(let frame) = event else { return }
            frame.forEachReading { readings.append($0) }
        }
        #expect(readings.count == 1)
        #expect(readings.first?[.power] == (line.contains("2000") ? 2000 : nil))
    }

    @Test func unitThatIsNotKnown_makesItsQuantityUnknown_andIsTold() {
        var bench = Bench([Self.sensor(1, "voltage", "V"), Self.sensor(2, "power", "VA", name: "Load")])
        for _ in 1...2 { bench.told([1: 5, 2: 7]) }
        #expect(bench.lines == ["{\"voltage\":5.0,\"power\":null}\n"])
        #expect(
            bench.machine.remark?.hasPrefix(
                "load of shelf.local measures in \"VA\", and meterd knows no such unit of power") == true
        )
    }

    // MARK: Which sensors

    private static let ade7953 = [
        sensor(1, "voltage", "V", name: "Line"), sensor(2, "current", "A", name: "Current A"),
        sensor(3, "current", "A", name: "Current B"), sensor(4, "power", "W", id: "given"),
        sensor(5, "temperature", "°C", name: "Chip", category: 2), sensor(6, "temperature", "°F", name: "Ünder"),
    ]

    @Test(
        arguments: [
            (
                [:], nil,
                "has 2 sensors of current: current_a, current_b. Name one in its [[esphome.meter]], as current = \"current_a\""
            ),
            ([.current: "current_b"], "{\"voltage\":1.0,\"current\":3.0,\"power\":4.0,\"temperature\":null}\n", nil),
            ([.current: "", .temperature: "chip"], "{\"voltage\":1.0,\"power\":4.0,\"temperature\":5.0}\n", nil),
            (
                [.current: "current_b", .temperature: "_nder"],
                "{\"voltage\":1.0,\"current\":3.0,\"power\":4.0,\"temperature\":null}\n", nil
            ),
            (
                [.current: "x"], nil,
                "no sensor \"x\", which its [[esphome.meter]] names as its current. Its sensors are: line, current_a"
            ),
            (
                [.voltage: "", .current: "", .power: ""], nil,
                "has no sensor of device_class voltage, current, power or energy"
            ),
        ] as [([Quantity: String], String?, String?)])
    func ambiguousClass_isRefused_andAChoiceIsTaken(names: [Quantity: String], line: String?, words: String?) {
        var bench = Bench(Self.ade7953, names: names)
        for _ in 1...2 { bench.told([1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6]) }
        #expect(bench.lines == [line].compactMap { $0 })
        #expect(bench.isOpen == (words == nil))
        #expect((bench.failure == nil) == (words == nil))
        if let words { #expect(bench.failure?.contains(words) == true, "\(bench.failure ?? "")") }
    }

    /// A sensor without a name is called as its node.
    @Test func namelessSensor_isCalledAsItsNode() {
        let bench = Bench(
            [Self.sensor(1, "voltage", "V")], names: [.voltage: "top-shelf_2"], friendlyName: "Top-Shelf 2")
        #expect(bench.failure == nil)
        #expect(Bench([Self.sensor(1, "voltage", "V")], names: [.voltage: "shelf"]).failure == nil)
    }

    @Test func nodeThatListsForever_orNeverEnds_isLeft() {
        var bench = Bench([])
        #expect(bench.failure?.hasSuffix("It has no sensors.") == true)
        bench = Bench((0...1000).map { Self.sensor(UInt32($0), "", "") })
        #expect(bench.failure?.contains("more than 1000 sensors") == true)

        var machine = NodeMeter(Bench.node, maxAge: .seconds(1), .plaintext, at: .origin)
        _ = machine.begin(at: .origin)
        let info = DeviceInfoResponse.made { $0.mac = "00:00:00:00:00:01" }
        _ = machine.received(FrameWriter.plaintext(info.frame), at: .origin)
        #expect(machine.nextWake == .origin + .seconds(10))
        let actions = machine.woke(at: machine.nextWake)
        #expect(actions == [.close(.ended("did not list its sensors within 10s"))])
    }

    // MARK: A whole node

    /// The simulated node, in both framings and in pieces of any length; it may be a proxy as well.
    @Test(arguments: [nil, ProxyBench.key])
    func simulatedNode_isRead(key: [UInt8]?) throws {
        var options = SimulatedProxy.Options()
        options.key = key
        let board = try #require(SimulatorCatalogue.standard.meter(.esphome, over: .network))
        var simulated = SimulatedProxy(options, sensors: SimulatedSensors(board))
        let client = simulated.accepted(ephemeral: ProxyBench.key)
        let node = NodeSettings(host: "x", mac: options.mac, table: "[[esphome.meter]]")
        var machine = NodeMeter(
            node, maxAge: .seconds(90), key.map { .key($0, ephemeral: ProxyBench.key.reversed()) } ?? .plaintext,
            at: .origin)
        var driver = try #require(MeterCatalogue.standard.driver(for: .esphome, over: .network))
        var readings: [Reading] = []
        var time = Duration.zero
        var waiting = machine.begin(at: .origin)
        for _ in 0..<2000 where time < .seconds(10) {
            var outputs: [SimulatedProxy.Output] = []
            if waiting.isEmpty {
                time = simulated.nextDue ?? .seconds(10)
                outputs = simulated.due(at: time)
            }
            for action in waiting {
                switch action {
                case .send(let bytes): outputs += simulated.received(bytes, from: client, at: time)
                case .line(let bytes):
                    driver.receive(bytes) { event in
                        guard case .frame(let frame) = event else { return }
                        frame.forEachReading { readings.append($0) }
                    }
                case .opened: break
                case .close(let fault): Issue.record("\(fault)")
                }
            }
            waiting = []
            for case .send(_, let bytes) in outputs {
                for start in stride(from: 0, to: bytes.count, by: 37) {
                    waiting += machine.received(
                        Array(bytes[start..<min(start + 37, bytes.count)]), at: .origin + time)
                }
            }
        }
        let last = try #require(readings.last)
        #expect(readings.count > 8)
        for quantity in [Quantity.voltage, .current, .power, .energy, .temperature] {
            #expect(last[quantity] != nil, "\(quantity)")
        }
        let (voltage, current, power) = (last[.voltage] ?? 0, last[.current] ?? 0, last[.power] ?? 0)
        #expect(voltage > 4 && current > 0.1 && abs(power - voltage * current) < 0.01)
    }
}

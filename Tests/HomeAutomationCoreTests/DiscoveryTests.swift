import CoreTestKit
import Domain
import Foundation
import Testing

/// What Home Assistant is told, read as it reads it: by a JSON library that is not ours.
struct DeviceDiscoveryTests {
    private let topics = Sample.topics

    private func payload(
        _ meter: BridgedMeter = Sample.meter(), _ quantities: QuantitySet = QuantitySet(.voltage, .energy)
    ) throws -> [String: Any] {
        let discovery = DeviceDiscovery(topics: topics, version: "1.2.3", interval: .seconds(5))
        let message = discovery.announcement(of: meter, quantities: quantities)
        return try #require(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
    }

    private func components(_ payload: [String: Any]) throws -> [String: [String: Any]] {
        try #require(payload["components"] as? [String: [String: Any]])
    }

    @Test func announcement_isOneRetainedMessage_forTheDevice() {
        let discovery = DeviceDiscovery(topics: topics, version: "1.2.3", interval: .seconds(5))

        let message = discovery.announcement(of: Sample.meter(), quantities: QuantitySet(.voltage))

        #expect(message.topic == "homeassistant/device/metergateway_02000000250c/config")
        #expect(message.isRetained)
        #expect(discovery.removal(of: Sample.id) == BrokerMessage(message.topic, [], isRetained: true))
    }

    @Test func device_hasWhatHomeAssistantAsksFor() throws {
        var meter = Sample.meter()
        (meter.serial, meter.firmware) = ("42", "1.15")
        let payload = try payload(meter)

        let device = try #require(payload["device"] as? [String: Any])
        #expect(device["identifiers"] as? [String] == ["metergateway_02000000250c"])
        #expect(device["name"] as? String == "Bench")
        #expect(device["model"] as? String == "UM25C")
        #expect(device["serial_number"] as? String == "42")
        #expect(device["sw_version"] as? String == "1.15")
        #expect(
            device["connections"] as? [[String]] == [
                ["mac", "02:00:00:00:25:0C"], ["bluetooth", "02:00:00:00:25:0C"],
            ])
        #expect(payload["origin"] as? [String: String] == ["name": "MeterGateway", "sw_version": "1.2.3"])
    }

    @Test func meterWithoutAddress_hasNoConnections() throws {
        let device = try #require(try payload(Sample.meter(Sample.other))["device"] as? [String: Any])

        #expect(device["connections"] == nil)
    }

    @Test func availability_asksForBridgeAndDevice() throws {
        let payload = try payload()

        #expect(payload["availability_mode"] as? String == "all")
        #expect(
            payload["availability"] as? [[String: String]] == [
                ["topic": topics.bridge], ["topic": topics.availability(Sample.id)],
            ])
    }

    @Test func energy_isATotalThatGrows() throws {
        let energy = try #require(try components(payload())["energy"])

        #expect(energy["platform"] as? String == "sensor")
        #expect(energy["device_class"] as? String == "energy")
        #expect(energy["state_class"] as? String == "total_increasing")
        #expect(energy["unit_of_measurement"] as? String == "Wh")
        #expect(energy["unique_id"] as? String == "metergateway_02000000250c_energy")
        #expect(energy["state_topic"] as? String == "metergateway/meter/02000000250c/state")
        #expect(energy["value_template"] as? String == "{{ value_json.energy_Wh }}")
        #expect(energy["expire_after"] as? Int == 75)
    }

    /// What the gateway counts falls where current flows back, and says when it was reset.
    @Test func energyThatTheGatewayCounts_isATotal_withItsReset() throws {
        let components = try components(payload(Sample.meter(), QuantitySet(.countedEnergy, .countedCharge)))
        let energy = try #require(components["counted_energy"])

        #expect(energy["device_class"] as? String == "energy")
        #expect(energy["state_class"] as? String == "total")
        #expect(energy["last_reset_value_template"] as? String == "{{ value_json.counted_since }}")
        #expect(energy["value_template"] as? String == "{{ value_json.counted_energy_Wh }}")
        #expect(components["counted_charge"]?["state_class"] as? String == "total")
        #expect(try self.components(payload())["energy"]?["last_reset_value_template"] == nil)
    }

    /// Each quantity as Home Assistant shows it: its name, class and statistics, the decimals, whether it is a detail, and
    /// whether it says when it began at zero.
    @Test func everyQuantity_isShownAsWhatItIs() throws {
        let expected: [Quantity: (String, String?, String?, Int?, Bool, Bool)] = [
            .voltage: ("Voltage", "voltage", "measurement", 3, false, false),
            .current: ("Current", "current", "measurement", 3, false, false),
            .power: ("Power", "power", "measurement", 3, false, false),
            .energy: ("Energy", "energy", "total_increasing", 3, false, false),
            .charge: ("Charge", nil, "total_increasing", 0, false, false),
            .temperature: ("Temperature", "temperature", "measurement", 0, false, false),
            .dataPlus: ("D+", "voltage", "measurement", 2, true, false),
            .dataMinus: ("D−", "voltage", "measurement", 2, true, false),
            .resistance: ("Resistance", nil, "measurement", 2, false, false),
            .cc1: ("CC1", "voltage", "measurement", 2, true, false),
            .cc2: ("CC2", "voltage", "measurement", 2, true, false),
            .frequency: ("Frequency", "frequency", "measurement", 1, false, false),
            .powerFactor: ("Power factor", "power_factor", "measurement", 2, false, false),
            .supplyVoltage: ("Supply voltage", "voltage", "measurement", 2, true, false),
            .price: ("Price", nil, nil, nil, true, false),
            .duration: ("Counting for", "duration", "total_increasing", nil, true, false),
            .countedEnergy: ("Energy, counted by meterd", "energy", "total", 3, false, true),
            .countedCharge: ("Charge, counted by meterd", nil, "total", 0, false, true),
            .ratio: ("Ratio", nil, "measurement", 3, false, false),
        ]
        for quantity in Quantity.allCases {
            let sensor = try #require(try components(payload(Sample.meter(), QuantitySet(quantity)))[quantity.word])
            let (name, kind, state, digits, isDetail, isReset) = try #require(expected[quantity])
            #expect(sensor["name"] as? String == name)
            #expect(sensor["device_class"] as? String == kind, "\(quantity)")
            #expect(sensor["state_class"] as? String == state, "\(quantity)")
            #expect(sensor["suggested_display_precision"] as? Int == digits, "\(quantity)")
            #expect((sensor["entity_category"] as? String == "diagnostic") == isDetail, "\(quantity)")
            #expect((sensor["last_reset_value_template"] != nil) == isReset, "\(quantity)")
        }
    }

    /// Home Assistant refuses a sensor whose unit its class does not have
    /// (<https://developers.home-assistant.io/docs/core/entity/sensor#available-device-classes>).
    @Test func unitsAndClasses_belongTogether() throws {
        let legal: [String: [String?]] = [
            "voltage": ["V"], "current": ["A"], "power": ["W"], "energy": ["Wh"], "temperature": ["°C"],
            "frequency": ["Hz"], "power_factor": [nil], "duration": ["s"], "enum": [nil],
        ]
        var all = QuantitySet()
        for quantity in Quantity.allCases { all.formUnion(QuantitySet(quantity)) }
        let components = try components(payload(Sample.meter(), all))

        let sensors = components.filter { $0.value["platform"] as? String == "sensor" }
        #expect(sensors.count == Quantity.allCases.count + 1)
        for (key, sensor) in sensors {
            guard let kind = sensor["device_class"] as? String else { continue }
            #expect(legal[kind]?.contains(sensor["unit_of_measurement"] as? String) == true, "\(key)")
        }
        // An energy may not be a mere measurement.
        #expect(
            components.values.allSatisfy {
                $0["device_class"] as? String != "energy"
                    || ["total", "total_increasing"].contains($0["state_class"] as? String)
            })
    }

    @Test func ids_areUnique_andEachComponentHasAPlatform() throws {
        let components = try components(payload())

        let ids = components.values.compactMap { $0["unique_id"] as? String }
        #expect(Set(ids).count == components.count)
        #expect(components.values.allSatisfy { $0["platform"] is String })
    }

    @Test func status_isThereWhileTheBridgeIs_withTheHolderAsAttribute() throws {
        let status = try #require(try components(payload())["status"])

        #expect(status["availability"] as? [[String: String]] == [["topic": topics.bridge]])
        #expect(status["json_attributes_topic"] as? String == topics.status(Sample.id))
        #expect((status["options"] as? [String])?.contains("data-available") == true)
    }

    @Test func connection_isASwitch_ofTheSharedCommandTopic() throws {
        let payload = try payload()
        let connection = try #require(try components(payload)["connection"])

        #expect(connection["platform"] as? String == "switch")
        #expect(connection["payload_on"] as? String == "connect")
        #expect(connection["payload_off"] as? String == "disconnect")
        #expect(payload["command_topic"] as? String == topics.request(Sample.id))
    }

    @Test func abilities_areButtonsAndNumbers_butForWhatLosesData() throws {
        let components = try components(payload())

        #expect(components["next_screen"]?["platform"] as? String == "button")
        #expect(components["next_screen"]?["payload_press"] as? String == "next-screen")
        #expect(components["brightness"]?["platform"] as? String == "number")
        #expect(components["brightness"]?["command_template"] as? String == "brightness {{ value | int }}")
        #expect(components["brightness"]?["max"] as? Int == 5)
        #expect(components["clear_group"] == nil)
    }

    /// Whatever a person or a meter calls it.
    @Test(arguments: ["a\"b\\c", "line\nbreak\u{0}\u{1F}\u{7F}", "😀 é ﷺ", "{{ states('x') }}", "</script>"])
    func anyName_makesValidJSON(name: String) throws {
        var meter = Sample.meter()
        meter.name = name

        let device = try #require(try payload(meter)["device"] as? [String: Any])

        #expect(device["name"] as? String == name)
    }

    @Test func state_isReadByAnotherLibrary_asItWas() throws {
        var bench = Bench.open()
        bench.observe([Sample.meter()], at: 1)

        let data = Data(try #require(bench.last(topics.state(Sample.id))).payload)
        let state = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])

        #expect(state["voltage_V"] as? Double == 5)
        #expect(state["temperature_C"] is NSNull)
    }
}

struct BrokerTopicsTests {
    @Test func topics_ofTheMeter_doNotNameTheGateway() {
        let topics = Sample.topics
        for topic in [
            topics.state(Sample.id), topics.status(Sample.id), topics.availability(Sample.id),
            topics.backlog(Sample.id), topics.discovery(Sample.id),
        ] { #expect(!topic.contains(topics.gateway)) }
        #expect(topics.gateway == "bench-1a2b3c4d")
    }

    @Test(arguments: ["a/b", "a+b", "#", "", "é\u{0}", String(repeating: "x", count: 500), "$SYS"])
    func hostName_cannotReachIntoOtherTopics(name: String) {
        let topics = BrokerTopics(host: name, id: HostID(high: 1, low: 2))

        #expect(topics.bridge.split(separator: "/", omittingEmptySubsequences: false).count == 4)
        #expect(topics.gateway.utf8.count <= 80)
        #expect(topics.gateway.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
    }

    @Test(arguments: [
        ("homeassistant", true), ("home/assistant.2", true), ("", false), ("a//b", false), ("a/", false), ("/a", false),
        ("a/+", false), ("#", false), ("$SYS", false), ("a b", false), (String(repeating: "a", count: 101), false),
    ])
    func prefix_isOneOrSeveralLevels(text: String, isLegal: Bool) {
        #expect(BrokerTopics.isPrefix(text) == isLegal)
    }

    @Test func bytesThatATopicCannotHave_areTwoDigits() throws {
        let id = try #require(MeterID("usb:0483:5740:A\u{9}/é"))
        #expect(id.topicKey == "usb-0483-5740-A_09_2f_c3_a9")
    }

    /// Two meters never share a topic, and Home Assistant takes every id.
    @Test(arguments: 0..<10)
    func keys_areLegal_andDiffer(_ portion: Int) {
        var keys: [String: MeterID] = [:]
        for seed in UInt64(portion * 200)..<UInt64(portion * 200 + 200) {
            var rng = SeededRNG(seed: seed)
            let id = Self.id(&rng)
            let key = id.topicKey

            #expect(
                !key.isEmpty
                    && key.utf8.allSatisfy { byte in
                        byte == 0x2D || byte == 0x5F || Character(Unicode.Scalar(byte)).isLetter
                            || Character(Unicode.Scalar(byte)).isNumber
                    }, "seed \(seed)")
            #expect(keys[key] == nil || keys[key] == id, "seed \(seed): \(id) and \(keys[key].map { "\($0)" } ?? "")")
            keys[key] = id
        }
    }

    private static func id(_ rng: inout SeededRNG) -> MeterID {
        func text() -> String {
            var text = ""
            for _ in 0...rng.below(4) { text += rng.pick(["a", "-", "_", ":", "/", "é", "%", " ", "2d", "#", "A"]) }
            return text
        }
        switch rng.below(4) {
        case 0: return .mac(MACAddress(bits: rng.next() & 0xFF))
        case 1: return .usb(vendor: 1, product: 2, serial: text())
        case 2: return .usbPort(vendor: 1, product: 2, host: text(), path: text())
        default: return .port(host: text(), path: text())
        }
    }
}

struct BacklogTests {
    private func entry(_ number: UInt64, size: Int = 10) -> Backlog.Entry {
        Backlog.Entry(number: number, message: BrokerMessage("t", [UInt8](repeating: 0, count: size - 1)))
    }

    @Test func oldestGoes_whenThereAreTooManyBytes() {
        var limits = Backlog.Limits()
        limits.bytes = 100
        var backlog = Backlog(limits: limits)

        for number in 0..<25 { backlog.add(entry(UInt64(number))) }

        #expect(backlog.count == 10)
        #expect(backlog.dropped == 15)
        #expect(backlog.next()?.number == 15)
    }

    @Test func entryBiggerThanAll_isDropped() {
        var limits = Backlog.Limits()
        limits.bytes = 100
        var backlog = Backlog(limits: limits)

        backlog.add(entry(1, size: 101))

        #expect(backlog.isEmpty)
        #expect(backlog.dropped == 1)
    }

    /// Against a plain sorted list.
    @Test(arguments: 0..<10)
    func backlog_isASortedQueue(_ portion: Int) {
        for seed in UInt64(portion * 5)..<UInt64(portion * 5 + 5) {
            var rng = SeededRNG(seed: seed)
            var limits = Backlog.Limits()
            limits.entries = 50
            var backlog = Backlog(limits: limits)
            var model: [UInt64] = []
            var dropped = 0
            for step in 0..<300 {
                if rng.chance(55) {
                    // Mostly the next; now and then one that was taken out before comes back.
                    let number = UInt64(rng.chance(80) ? step : max(0, step - rng.below(100)))
                    backlog.add(entry(number))
                    model.append(number)
                    model.sort()
                    if model.count > 50 {
                        model.removeFirst()
                        dropped += 1
                    }
                } else {
                    #expect(backlog.next()?.number == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
                }
                #expect(backlog.count == model.count, "seed \(seed)")
            }
            #expect(backlog.dropped == dropped, "seed \(seed)")
        }
    }
}

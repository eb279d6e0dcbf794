import Domain
import Foundation
import Testing

/// What a meter tells besides readings reaches the broker with them, and has entities.
struct TelemetryTests {
    private var topics: BrokerTopics { Sample.topics }

    private func meter(
        at seconds: Double, _ details: [String: TelemetryBody.Value], groups: [TelemetryBody.Group] = []
    ) -> BridgedMeter {
        var meter = Sample.meter(reading: seconds)
        var told = TelemetryBody()
        (told.details, told.groups) = (details, groups)
        meter.told = told
        return meter
    }

    private func json(_ message: BrokerMessage?) throws -> [String: Any] {
        let payload = try #require(message).payload
        return try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
    }

    private func entities(_ bench: Bench) throws -> [String: [String: Any]] {
        let announcement = try json(bench.last(topics.discovery(Sample.id)))
        return try #require(announcement["components"] as? [String: [String: Any]])
    }

    @Test func state_hasWhatIsTold_underItsKeys() throws {
        var bench = Bench.open()

        bench.observe(
            [
                meter(
                    at: 1,
                    [
                        "charging_mode": .text("DCP 1.5 A"), "recorder_running": .flag(true),
                        "selected_group": .number(3),
                    ],
                    groups: [.init(index: 0, charge_mAh: 12, energy_Wh: 0.06)])
            ], at: 1)

        let state = try json(bench.last(topics.state(Sample.id)))
        let told = try #require(state["told"] as? [String: Any])
        let details = try #require(told["details"] as? [String: Any])
        #expect(details["charging_mode"] as? String == "DCP 1.5 A")
        #expect(details["recorder_running"] as? Bool == true)
        #expect(details["selected_group"] as? Double == 3)
        let groups = try #require(told["groups"] as? [[String: Double]])
        #expect(groups == [["index": 0, "charge_mAh": 12, "energy_Wh": 0.06]])
    }

    @Test func eachKind_hasTheEntityThatFits() throws {
        var bench = Bench.open()

        bench.observe(
            [
                meter(
                    at: 1,
                    [
                        "charging_mode": .text("DCP 1.5 A"), "recorder_running": .flag(true),
                        "recorder_duration_s": .number(60), "recorder_energy_mWh": .number(5),
                    ])
            ], at: 1)

        let entities = try entities(bench)
        let mode = try #require(entities["told_charging_mode"])
        #expect(mode["platform"] as? String == "sensor")
        #expect(mode["name"] as? String == "Charging mode")
        #expect(mode["state_topic"] as? String == topics.state(Sample.id))
        #expect(mode["unit_of_measurement"] == nil && mode["device_class"] == nil && mode["state_class"] == nil)
        #expect(mode["entity_category"] as? String == "diagnostic")
        #expect((mode["value_template"] as? String)?.contains("value_json.told.details.charging_mode[:255]") == true)
        #expect(entities["told_recorder_running"]?["platform"] as? String == "binary_sensor")
        let duration = try #require(entities["told_recorder_duration_s"])
        #expect(duration["name"] as? String == "Recorder duration")
        #expect(duration["unit_of_measurement"] as? String == "s")
        #expect(duration["device_class"] as? String == "duration")
        #expect(entities["told_recorder_energy_mWh"]?["unit_of_measurement"] as? String == "mWh")
        let ids = entities.values.compactMap { $0["unique_id"] as? String }
        #expect(Set(ids).count == ids.count)
    }

    @Test func whatIsToldLater_isAnnouncedOnce_whateverItsValuesAre() throws {
        var bench = Bench.open()
        let topic = topics.discovery(Sample.id)
        bench.observe([meter(at: 1, ["protocol": .unknown])], at: 1)
        let first = bench.count(topic)

        bench.observe([meter(at: 30, ["protocol": .unknown, "trigger": .text("idle")])], at: 30)
        bench.observe([meter(at: 60, ["protocol": .text("QC 3.0"), "trigger": .text("PD")])], at: 60)
        bench.observe([meter(at: 90, ["protocol": .unknown, "trigger": .unknown])], at: 90)

        // Unknown was taken for a text, and so it is.
        #expect(bench.count(topic) == first + 1)
        #expect(try entities(bench).keys.contains("told_trigger"))
        let told = try json(bench.last(topics.state(Sample.id)))["told"] as? [String: Any]
        #expect((told?["details"] as? [String: Any])?["protocol"] is NSNull)
    }

    @Test func meterThatTellsNothing_hasNothingOfIt() throws {
        var bench = Bench.open()

        bench.observe([Sample.meter(reading: 1)], at: 1)

        #expect(try json(bench.last(topics.state(Sample.id)))["told"] == nil)
        #expect(try entities(bench).keys.allSatisfy { !$0.hasPrefix("told_") })
    }
}

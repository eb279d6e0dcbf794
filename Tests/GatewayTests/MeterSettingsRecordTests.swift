import Domain
import Gateway
import GatewayAPI
import MeterCodec
import Testing

struct MeterSettingsRecordTests {
    private static let host = HostID(high: 0x1111_1111_1111_4111, low: 0x8111_1111_1111_1111)

    private func record(_ values: [String: SettingValue]) -> SyncRecord {
        let stamp = Stamp(milliseconds: 1, counter: 0, host: Self.host)
        return SyncRecord(
            key: .settings(of: .um), properties: values.mapValues { Register(value: $0, stamp: stamp) })
    }

    @Test(arguments: [
        (MeterSettings.Key.name, "Bench", SettingValue.string("Bench"), "Bench"),
        (.notes, "left of\nthe lamp", .string("left of\nthe lamp"), "left of\nthe lamp"),
        (.pollInterval, "2s", .int(2000), "2s"), (.pollInterval, "1.5s", .int(1500), "1500ms"),
        (.pollInterval, "60s", .int(60_000), "1m"), (.staleAfter, "1H", .int(3_600_000), "1h"),
        (.staleAfter, "90s", .int(90_000), "90s"), (.temperatureUnit, "f", .string("F"), "F"),
        (.filter, "off", .string("off"), "off"), (.filter, "on", .string("on"), "on"),
        (.screenTimeout, "5", .int(5), "5"), (.brightness, "0", .int(0), "0"), (.threshold, "0120", .int(120), "120"),
    ])
    func text_isKeptAsItsType_andShownInOneForm(
        _ key: MeterSettings.Key, _ text: String, _ value: SettingValue, _ shown: String
    ) throws {
        let kept = try MeterSettings.values(of: [key.rawValue: text], for: nil)[key]
        let texts = MeterSettings.texts(of: record([key.rawValue: try #require(kept)]))

        #expect(kept == value)
        #expect(texts == [key.rawValue: shown])
        #expect(try MeterSettings.values(of: [key.rawValue: shown], for: nil)[key] == value)
    }

    @Test func texts_ofAnEarlierVersion_areRead() {
        let settings = MeterSettings(
            record: record([
                "poll-interval": .string("2s"), "name": .string("Bench"), "temperature-unit": .string("F"),
                "brightness": .string("4"),
            ]))

        #expect(settings.pollInterval == .seconds(2))
        #expect(settings.name == "Bench")
        #expect(settings.temperatureUnit == .fahrenheit)
        #expect(settings.numbers == [.brightness: 4])
    }

    @Test func null_isNotSet_andUnknownPropertiesAreShown() {
        let record = record([
            "name": .null, "colour": .string("red"), "future": .bool(true), "ratio": .double(1.5), "count": .int(7),
        ])

        #expect(
            MeterSettings.texts(of: record) == ["colour": "red", "future": "true", "ratio": "1.5", "count": "7"])
        #expect(MeterSettings(record: record) == MeterSettings())
    }

    @Test func valueOfAnotherType_isTheDefault_andHarmsNoOther() {
        let settings = MeterSettings(
            record: record([
                "name": .bool(true), "poll-interval": .int(-1), "stale-after": .int(.max), "brightness": .double(2.5),
                "screen-timeout": .int(3),
            ]))

        #expect(settings.pollInterval == nil)
        #expect(settings.staleAfter == nil)
        #expect(settings.numbers == [.screenTimeout: 3])
    }

    @Test func noRecord_isNothingSet() {
        #expect(MeterSettings(record: nil) == MeterSettings())
        #expect(MeterSettings.texts(of: nil).isEmpty)
    }

    // MARK: What the model takes

    private func failure(_ changes: [String: String?], _ model: ModelName) -> GatewayError? {
        let profile = MeterCatalogue.standard.driver(for: model)?.profile
        return #expect(throws: GatewayError.self) { try MeterSettings.values(of: changes, for: profile) }
    }

    @Test func number_isRefused_withWhatTheModelTakes() {
        let brightness = failure(["brightness": "6"], .um25c)
        let threshold = failure(["threshold": "15"], .um25c)

        #expect(brightness?.message == "brightness cannot be \"6\"")
        #expect(brightness?.next == "it takes a whole number from 0 to 5")
        #expect(threshold?.next == "it takes a whole number from 0 to 300 in steps of 10")
    }

    @Test func setting_isRefused_whereTheModelHasNone() {
        let failure = failure(["brightness": "3"], .tc66c)

        #expect(failure?.message == "a TC66C has no brightness")
        #expect(
            failure?.next == "its settings are name, notes, poll-interval, stale-after, temperature-unit, "
                + "record-above, record-hold, record-gap, tariff")
    }

    @Test func filter_isASettingOfModelsThatHaveOne() throws {
        let profile = try #require(MeterCatalogue.standard.driver(for: .fnb58, over: .hid)).profile
        #expect(try MeterSettings.values(of: ["filter": "off"], for: profile) == [.filter: .string("off")])
        #expect(failure(["filter": "off"], .tc66c)?.message == "a TC66C has no filter")
        let error = #expect(throws: GatewayError.self) { try MeterSettings.values(of: ["filter": "no"], for: profile) }
        #expect(error?.next == "it takes on or off: whether single values that cannot be are left out")
        #expect(MeterSettings(stored: [:]).filters && !MeterSettings(stored: ["filter": "off"]).filters)
    }

    @Test(arguments: ["off", "0", "2", "10", "50", "1000"])
    func rate_isTaken_asTheModelKnowsIt(text: String) throws {
        let profile = try #require(MeterCatalogue.standard.driver(for: .km003c)).profile
        let values = try MeterSettings.values(of: ["rate": text], for: profile)
        #expect(values == [.rate: .int(text == "off" ? 0 : Int64(text) ?? -1)])
        #expect(MeterSettings.text(of: values[.rate] ?? .null, for: .rate) == (text == "0" ? "off" : text))
    }

    @Test(arguments: ["1", "100", "999", "1001", "10s", "On", "-2", ""])
    func rate_isRefused_whereTheModelDoesNotKnowIt(text: String) {
        let failure = failure(["rate": text], .km003c)
        #expect(failure?.message == "rate cannot be \"\(text)\"")
        #expect(failure?.next.hasPrefix("it takes off") == true)
    }

    @Test func rate_isRefused_whereTheModelHasNoClockOfItsOwn() {
        #expect(failure(["rate": "10"], .tc66c)?.message == "a TC66C has no rate")
        #expect(failure(["rate": "off"], .tc66c)?.message == "a TC66C has no rate")
    }

    @Test func rate_isListed_withItsValues_whereTheModelHasOne() throws {
        let profile = try #require(MeterCatalogue.standard.driver(for: .km003c)).profile
        let bodies = MeterSettings.bodies([:], by: [:], own: HostID(high: 1, low: 1), for: profile)
        let rate = try #require(bodies.first { $0.key == "rate" })
        #expect(rate.default == "off")
        #expect(rate.values == ["off", "2", "10", "50", "1000"])
        #expect(rate.legal == "off or samples a second: 2, 10, 50, 1000")
        let um = try #require(MeterCatalogue.standard.driver(for: .um25c)).profile
        #expect(
            !MeterSettings.bodies([:], by: [:], own: HostID(high: 1, low: 1), for: um).contains { $0.key == "rate" })
    }

    @Test(arguments: ["-1", "1.5", "bright", "", "100000", "０"])
    func number_isRefused_whereItIsNone(_ text: String) {
        let error = #expect(throws: GatewayError.self) { try MeterSettings.values(of: ["brightness": text], for: nil) }

        #expect(error?.next == "it takes a whole number from 0 to 99999")
    }

    @Test func number_isTaken_whereTheModelIsNotKnownYet() throws {
        #expect(try MeterSettings.values(of: ["brightness": "77"], for: nil) == [.brightness: .int(77)])
    }

    @Test func commands_areThoseOfTheModel() throws {
        var settings = MeterSettings()
        try settings.apply(.brightness, "4")
        try settings.apply(.screenTimeout, "30")
        try settings.apply(.threshold, "100")
        let um = try #require(MeterCatalogue.standard.driver(for: .um25c)).profile
        let tc = try #require(MeterCatalogue.standard.driver(for: .tc66c)).profile

        #expect(settings.commands(for: um) == [MeterCommand(.brightness, 4), MeterCommand(.recordThreshold, 100)])
        #expect(settings.commands(for: tc).isEmpty)
    }
}

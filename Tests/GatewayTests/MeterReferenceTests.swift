import Domain
import Gateway
import GatewayAPI
import Testing

struct MeterReferenceTests {
    private let meters: [(id: MeterID, name: String?)] = [
        (.mac(MACAddress(bits: 0xAABB_CCDD_EE01)), "Bench left"),
        (.mac(MACAddress(bits: 0xAABB_CCDD_EE02)), "Bench right"),
        (.mac(MACAddress(bits: 0x0200_0000_0001)), "Bench"),
        (.usb(vendor: 0x5FC9, product: 0x63, serial: "007965"), nil),
        (.port(host: "pi", path: "/dev/rfcomm0"), "AABB"),
    ]

    @Test(arguments: [
        ("AA:BB:CC:DD:EE:01", "AA:BB:CC:DD:EE:01"), ("aa-bb-cc-dd-ee-02", "AA:BB:CC:DD:EE:02"),
        ("aabbccddee01", "AA:BB:CC:DD:EE:01"), (" AABBCCDDEE01 ", "AA:BB:CC:DD:EE:01"),
        ("USB:5FC9:0063:007965", "usb:5fc9:0063:007965"), ("usb:5fc9:63:007965", "usb:5fc9:0063:007965"),
        ("port:pi:/dev/rfcomm0", "port:pi:/dev/rfcomm0"),
        // A complete name takes precedence over the beginning of two others.
        ("bench", "02:00:00:00:00:01"), ("BENCH LEFT", "AA:BB:CC:DD:EE:01"),
        // A complete name takes precedence over the beginning of an address.
        ("aabb", "port:pi:/dev/rfcomm0"),
        ("bench r", "AA:BB:CC:DD:EE:02"), ("02", "02:00:00:00:00:01"), ("0200", "02:00:00:00:00:01"),
        ("02-00", "02:00:00:00:00:01"), ("usb:5fc9", "usb:5fc9:0063:007965"), ("usb", "usb:5fc9:0063:007965"),
        ("aabbccddee02", "AA:BB:CC:DD:EE:02"),
    ])
    func text_meansOneMeter(_ text: String, _ id: String) throws {
        #expect(try MeterReference.resolve(text, among: meters).description == id)
    }

    @Test func ambiguousText_namesTheCandidates() {
        let error = #expect(throws: GatewayError.self) { try MeterReference.resolve("AA:BB:CC", among: meters) }

        #expect(error?.code == .ambiguousMeter)
        #expect(
            error?.message
                == "\"AA:BB:CC\" may mean AA:BB:CC:DD:EE:01 (Bench left), AA:BB:CC:DD:EE:02 (Bench right)")
        #expect(error?.next == "type more of the id or name")
    }

    private static let models = [
        MeterID.mac(MACAddress(bits: 0xAABB_CCDD_EE01)): "UM25C", .mac(MACAddress(bits: 0xAABB_CCDD_EE02)): "UM25C",
        .usb(vendor: 0x5FC9, product: 0x63, serial: "007965"): "KM003C",
    ]

    @Test func model_isAHandle_whereOnlyOneIsOfIt() throws {
        #expect(
            try MeterReference.resolve("km003c", among: meters, models: Self.models).description
                == "usb:5fc9:0063:007965")
        let two = #expect(throws: GatewayError.self) {
            try MeterReference.resolve("UM25C", among: meters, models: Self.models)
        }
        #expect(
            two?.message == "\"UM25C\" may mean AA:BB:CC:DD:EE:01 (Bench left), AA:BB:CC:DD:EE:02 (Bench right)")
        // The beginning of a model is none, and a name that is another's model is that name.
        #expect(throws: GatewayError.self) { try MeterReference.resolve("km", among: meters, models: Self.models) }
        var models = Self.models
        models[.port(host: "pi", path: "/dev/rfcomm0")] = "Bench"
        #expect(
            try MeterReference.resolve("bench", among: meters, models: models).description == "02:00:00:00:00:01")
    }

    @Test(arguments: [
        ("bnech", "did you mean Bench? "), ("bench rihgt", "did you mean Bench right? "),
        ("km03c", "did you mean KM003C? "),
        ("something", ""),
    ])
    func unknownText_hasWhatWasProbablyMeant(_ text: String, _ hint: String) {
        let error = #expect(throws: GatewayError.self) {
            try MeterReference.resolve(text, among: meters, models: Self.models)
        }

        #expect(error?.next == "\(hint)meterctl scan lists the meters that are there")
    }

    @Test func nameGivenTwice_isAmbiguous() {
        let twins: [(id: MeterID, name: String?)] = [
            (.mac(MACAddress(bits: 1)), "Bench"), (.mac(MACAddress(bits: 2)), "bench"),
        ]

        let error = #expect(throws: GatewayError.self) { try MeterReference.resolve("Bench", among: twins) }

        #expect(error?.code == .ambiguousMeter)
    }

    @Test(arguments: ["", " ", "ff", "bench middle", "AA:BB:CC:DD:EE:03", ":", "-", "5fc9"])
    func anythingElse_isNoMeter(_ text: String) {
        let error = #expect(throws: GatewayError.self) { try MeterReference.resolve(text, among: meters) }

        #expect(error?.code == .noSuchMeter)
        #expect(error?.message == "no meter is called \"\(text)\"")
    }
}

struct MeterSettingsTests {
    @Test func everyLegalValue_isTaken() throws {
        var settings = MeterSettings()
        try settings.apply(.name, "Bench meter")
        try settings.apply(.notes, "left of\nthe lamp")
        try settings.apply(.pollInterval, "1.5s")
        try settings.apply(.staleAfter, "1h")
        try settings.apply(.temperatureUnit, "f")

        #expect(settings.name == "Bench meter")
        #expect(settings.notes == "left of\nthe lamp")
        #expect(settings.pollInterval == .milliseconds(1500))
        #expect(settings.staleAfter == .seconds(3600))
        #expect(settings.temperatureUnit == .fahrenheit)
    }

    private static let legalName =
        "it takes text of 1 to 64 characters that is neither an id nor a path, without blanks at either end"

    @Test(arguments: [
        (MeterSettings.Key.name, "", Self.legalName),
        (.name, String(repeating: "x", count: 65), Self.legalName),
        (.name, "a\nb", Self.legalName),
        (.name, "\u{1B}[2J", Self.legalName),
        (.name, "\u{9B}31m", Self.legalName),
        (.name, " ", Self.legalName),
        (.name, "/dev/ttyUSB0", Self.legalName),
        (.name, "aabbccddeeff", Self.legalName),
        (.pollInterval, "3000", "it takes a time from 10ms to 1h, such as 500ms, 2s or 1m"),
        (.notes, String(repeating: "x", count: 1001), "it takes text of at most 1000 characters, line ends allowed"),
        (.pollInterval, "often", "it takes a time from 10ms to 1h, such as 500ms, 2s or 1m"),
        (.pollInterval, "9ms", "it takes a time from 10ms to 1h, such as 500ms, 2s or 1m"),
        (.pollInterval, "61m", "it takes a time from 10ms to 1h, such as 500ms, 2s or 1m"),
        (.staleAfter, "999ms", "it takes a time such as 3s, from 1s to 1h"),
        (.temperatureUnit, "K", "it takes C or F, as the meter's own menu is set"),
    ])
    func illegalValue_saysWhatIsLegal(_ key: MeterSettings.Key, _ value: String, _ next: String) {
        let error = #expect(throws: GatewayError.self) { try MeterSettings.values(of: [key.rawValue: value], for: nil) }

        #expect(error?.code == .badRequest)
        #expect(error?.message == "\(key.rawValue) cannot be \"\(value)\"")
        #expect(error?.next == next)
    }

    @Test func unknownKey_isNamed_withThoseThatExist() {
        let error = #expect(throws: GatewayError.self) { try MeterSettings.values(of: ["colour": "red"], for: nil) }

        #expect(error?.message == "no setting is called colour")
        #expect(
            error?.next
                == "the settings are name, notes, poll-interval, rate, stale-after, temperature-unit, filter, screen-timeout, "
                + "brightness, threshold, record-above, record-hold, record-gap, tariff")
    }

    @Test func storedValue_thatNoLongerParses_isTheDefault_andHarmsNoOther() {
        let settings = MeterSettings(stored: ["poll-interval": "often", "name": "Bench", "of-the-future": "1"])

        #expect(settings.pollInterval == nil)
        #expect(settings.name == "Bench")
    }
}

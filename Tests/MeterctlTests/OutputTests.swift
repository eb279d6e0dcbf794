import Domain
import Foundation
import GatewayAPI
import MeterCodec
import ProgramKit
import Testing

@testable import meterctl

struct WordsTests {
    @Test(arguments: [
        (Quantity.voltage, 5.106, "5.106 V"), (.current, 0.05934, "0.059 A"), (.power, 116.0994, "116.099 W"),
        (.energy, 0.0005, "0.001 Wh"), (.charge, 1234.4, "1234 mAh"), (.temperature, 25, "25.0 °C"),
        (.temperature, -0.04, "0.0 °C"), (.temperature, -5.25, "-5.3 °C"), (.dataPlus, 2.7, "2.700 V"),
        (.resistance, 9999.9, "9999.9 Ω"), (.frequency, 50, "50.0 Hz"), (.powerFactor, 0.98, "0.980"),
        (.current, 0.01, "0.010 A"), (.current, 0.005432, "5.432 mA"), (.current, -0.0000203, "-20.3 µA"),
        (.current, 0, "0.000 A"),
        (.price, 29.5, "29.50"), (.duration, 3600, "3600 s"), (.voltage, 0, "0.000 V"),
    ])
    func quantity_hasItsUnit_andItsDigits(_ quantity: Quantity, _ value: Double, _ text: String) {
        #expect(Formatting.quantity(quantity, value) == text)
    }

    @Test(arguments: [
        (5781.25, "1.85 EUR"), (5, "0.0016 EUR"), (0.5, "0.00016 EUR"), (0.04, "0.00001 EUR"),
        (0.02, "< 0.00001 EUR"), (0, "0.00 EUR"), (-5, "-0.0016 EUR"), (100, "0.032 EUR"),
    ])
    func cost_isRounded_toWhatCounts(energy_Wh: Double, text: String) throws {
        let cost = try #require(CostBody(of: energy_Wh, at: Tariff("0.32 EUR")))

        #expect(Formatting.cost(cost) == text)
        #expect(RecordingText.words(for: cost) == text + ", at 0.32 EUR a kWh")
    }

    @Test func unknown_isADash_andNeverZero() {
        for quantity in Quantity.allCases { #expect(Formatting.quantity(quantity, nil) == "–") }
    }

    @Test(arguments: [
        (0.0, 3, "0.000"), (-0.0004, 3, "0.000"), (-0.0005, 3, "-0.001"), (0.0999, 3, "0.100"),
        (999.9996, 3, "1000.000"),
        (12.5, 0, "13"), (-12.5, 0, "-13"), (0.05, 1, "0.1"), (123_456_789.123, 2, "123456789.12"),
        (1e300, 3, "1e+300"),
        (.nan, 3, "nan"), (-.infinity, 3, "-inf"),
    ])
    func decimal_roundsAndPads(_ value: Double, _ digits: Int, _ text: String) {
        #expect(Formatting.decimal(value, digits: digits) == text)
    }

    @Test(arguments: [
        (Int64(0), "0 ms"), (999, "999 ms"), (1000, "1 s"), (119_999, "119 s"), (120_000, "2 min"),
        (7_199_999, "119 min"), (7_200_000, "2 h"), (172_799_999, "47 h"), (172_800_000, "2 d"),
        (.max, "106751991167 d"),
    ])
    func age_isInTheUnitThatFits(_ milliseconds: Int64, _ text: String) {
        #expect(Formatting.age(milliseconds: milliseconds) == text)
    }

    @Test func everyState_hasItsColour() {
        #expect(ConnectionState.allCases.allSatisfy { Formatting.colour(of: $0.rawValue) != nil })
        #expect(Formatting.colour(of: "data-available") == .green)
        #expect(Formatting.colour(of: "of-the-future") == nil)
    }

    @Test func path_isOnePartOfAURL() throws {
        #expect("/dev/rfcomm0".percentEncoded == "%2Fdev%2Frfcomm0")
        #expect("AA:BB".percentEncoded == "AA%3ABB")
        #expect("Bench ä%".percentEncoded == "Bench%20%C3%A4%25")
        #expect("a-b.c_d~9".percentEncoded == "a-b.c_d~9")
        #expect("\n".percentEncoded == "%0A")
        #expect(try meterPath("usb:5fc9:0063:1/2", "/connect") == "/v1/meters/usb%3A5fc9%3A0063%3A1%2F2/connect")
    }

    @Test func path_isNone_forAMeterWithoutAName() {
        #expect(throws: CommandFailure(.usage, "\"\" names no meter", next: "meterctl status lists the meters")) {
            try meterPath("")
        }
    }

    private func status(_ state: ConnectionState, wanted: Bool, name: String? = nil) -> MeterStatus {
        var status = MeterStatus(
            id: "02:00:00:00:25:0C", state: state.rawValue, since: "2026-11-21T13:40:05.250Z", local_only: false,
            wanted: wanted, counters: .init())
        status.name = name
        return status
    }

    @Test func meterWithData_needsNoWords() {
        #expect(Formatting.noData(status(.dataAvailable, wanted: true), called: "um") == nil)
    }

    @Test func meterThatNobodyWants_isToBeConnected_byTheNameThatWasTyped() {
        #expect(
            Formatting.noData(status(.notConnected, wanted: false), called: "02")
                == "02: not-connected; meterctl connect 02")
        #expect(
            Formatting.noData(status(.notConnected, wanted: false, name: "my um"), called: "my um")
                == "my um: not-connected; meterctl connect \"my um\"")
    }

    @Test func meterThatIsWanted_needsNoConnect() {
        var status = status(.offline, wanted: true, name: "um")
        #expect(Formatting.noData(status, called: "um") == "um: offline; meterd goes on trying")
        status.error = "it does not answer"
        #expect(Formatting.noData(status, called: "um") == "um: offline, it does not answer; meterd goes on trying")
    }
}

struct ReadingPrinterTests {
    private func line(_ values: [Quantity: Double?], missed: Int? = nil) -> ReadingLine {
        var reading = Reading()
        for (quantity, value) in values { reading[quantity] = value }
        return ReadingLine(time: "2026-11-21T13:40:05.250Z", values: ReadingBody(reading), missed: missed)
    }

    @Test func csv_hasOneHeader_andAnEmptyFieldForUnknown() throws {
        var printer = ReadingPrinter(form: .csv)
        let first = try printer.lines(for: line([.voltage: 5.1, .current: nil, .temperature: 25]))
        let second = try printer.lines(for: line([.voltage: nil, .current: 0, .temperature: 26]))

        #expect(first == ["time,voltage_V,current_A,temperature_C", "2026-11-21T13:40:05.250Z,5.1,,25.0"])
        #expect(second == ["2026-11-21T13:40:05.250Z,,0.0,26.0"])
    }

    @Test func csv_keepsItsColumns_whenAReadingHasOthers() throws {
        var printer = ReadingPrinter(form: .csv)
        _ = try printer.lines(for: line([.voltage: 5.1, .current: 1]))

        #expect(try printer.lines(for: line([.current: 2, .power: 3])) == ["2026-11-21T13:40:05.250Z,,2.0"])
    }

    @Test func json_isOneObject_withNullForUnknown() throws {
        var printer = ReadingPrinter(form: .json)

        #expect(
            try printer.lines(for: line([.voltage: 5.1, .current: nil], missed: 3))
                == [#"{"current_A":null,"missed":3,"time":"2026-11-21T13:40:05.250Z","voltage_V":5.1}"#])
    }

    @Test func people_seeTheTime_andWhatTheyLookAt() throws {
        var printer = ReadingPrinter(form: .people(.berlin))

        #expect(
            try printer.lines(for: line([.voltage: 5.1, .current: nil, .dataPlus: 2.7, .temperature: 25]))
                == ["14:40:05.250  5.100 V  –  25.0 °C"])
    }

    @Test func readingLine_survivesItsJSON() throws {
        let original = line([.voltage: 5.106, .current: nil, .charge: 0], missed: 2)
        let text = try JSONOutput.line(original)

        #expect(try JSONDecoder().decode(ReadingLine.self, from: Data(text.utf8)) == original)
    }
}

struct CaptureTallyTests {
    @Test func words_tellWhatIsThere() {
        var tally = CaptureTally()
        tally.add(TrafficLine(t: 0, dir: "out", hex: "f0"))
        tally.add(TrafficLine(t: 0.1, dir: "in", hex: "09c9"))

        #expect(tally.words == "2 messages")
    }

    @Test func words_tellWhatIsMissing() {
        var tally = CaptureTally()
        tally.add(TrafficLine(t: 0, dir: "out", hex: "f0"))
        tally.add(TrafficLine(t: 9, dir: "in", hex: "09c9", missed: 12))
        tally.add(TrafficLine(t: 10, dir: "in", hex: "09c9", missed: 3))

        #expect(tally.words == "3 messages without the 15 that were missed")
    }

    @Test func line_hasTheMissedOnes_onlyWhereThereAreSome() throws {
        #expect(try JSONOutput.line(TrafficLine(t: 1, dir: "in", hex: "f0")) == #"{"dir":"in","hex":"f0","t":1}"#)
        let line = TrafficLine(t: 1, dir: "in", hex: "f0", missed: 2)
        #expect(try JSONOutput.line(line) == #"{"dir":"in","hex":"f0","missed":2,"t":1}"#)
    }
}

struct GetTests {
    private let body = SettingsBody(settings: ["name": "Bench"], known: ["name", "notes"])

    @Test func value_isNil_whereNothingIsSet() throws {
        #expect(try Get.value(of: "name", in: body) == "Bench")
        #expect(try Get.value(of: "notes", in: body) == nil)
    }

    @Test func unknownKey_isWrongUsage_namingTheSettings() {
        #expect(
            throws: CommandFailure(
                .usage, "no setting is called nam", next: "did you mean name? The settings are name, notes")
        ) { try Get.value(of: "nam", in: body) }
    }

    @Test func json_ofNothing_isNull() throws {
        #expect(try JSONOutput.pretty(String?.none) == "null")
        #expect(try JSONOutput.pretty(String?.some("Bench \"1\"")) == #""Bench \"1\"""#)
    }

    /// A terminal obeys U+009B as it does ESC [; to a program the text is the same.
    @Test func json_hasNoControlCharacters() throws {
        let name = "\u{9B}31m°\u{7F}\u{1B}[31m"
        for text in [try JSONOutput.line([name]), try JSONOutput.pretty([name])] {
            #expect(
                text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }, "\(text)")
            #expect(try JSONDecoder().decode([String].self, from: Data(text.utf8)) == [name])
        }
    }
}

struct DecodedFrameTests {
    /// A worked block by Docs/Protocols/UM.md#block: 5.106 V, 0.0593 A, group 2 with 1234 mAh and 5678 mWh, mode
    /// unknown.
    static let block: [UInt8] = {
        var block = [UInt8](repeating: 0, count: 130)
        func put(_ bytes: [UInt8], at offset: Int) { block.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        put([0x09, 0xC9, 0x13, 0xF2, 0x02, 0x51, 0x00, 0x00, 0x01, 0x2F, 0x00, 0x19, 0x00, 0x4D, 0x00, 0x02], at: 0)
        put([0x00, 0x00, 0x04, 0xD2, 0x00, 0x00, 0x16, 0x2E], at: 32)
        put([0x01, 0x0E, 0x00, 0x3C, 0xFF, 0xFF], at: 96)
        put([0x00, 0x00, 0x03, 0x5D], at: 122)
        put([0xFF, 0xF1], at: 128)
        return block
    }()

    @Test func frame_isOneObject_asTheCommandLinesDocumentSays() throws {
        var decoder = UMDecoder()
        decoder.append(Self.block)
        let step = decoder.next()
        guard case .frame(let frame) = step else {
            Issue.record("no frame but \(String(describing: step))")
            return
        }

        let text = try JSONOutput.line(DecodedFrame(frame, raw: decoder.frameBytes))

        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(Swift.Set(object.keys) == ["model", "reading", "groups", "details", "raw"])
        #expect(object["model"] as? String == "UM25C")
        #expect(object["raw"] as? String == Hex.encode(Self.block))
        let reading = try #require(object["reading"] as? [String: Double])
        #expect(
            reading == [
                "voltage_V": 5.106, "current_A": 0.0593, "power_W": 0.303, "energy_Wh": 5.678, "charge_mAh": 1234,
                "temperature_C": 25, "dp_V": 2.7, "dn_V": 0.6, "resistance_ohm": 86.1,
            ])
        let groups = try #require(object["groups"] as? [[String: Double]])
        #expect(groups.count == 10)
        #expect(groups[2] == ["index": 2, "charge_mAh": 1234, "energy_mWh": 5678])
        let details = try #require(object["details"] as? [String: Any])
        #expect(details["charging_mode"] is NSNull)
        #expect(details["charging_mode_code"] as? Int == 65_535)
        #expect(details["recorder_running"] as? Bool == false)
    }
}

struct LogOutputTests {
    @Test func logs_areATable_andASampleIsALineOfCSV() {
        let log = MeterLogBody(
            name: "A01", samples: 521, interval_ms: 1000, duration_s: 521, charge_mAh: 12.5, energy_Wh: 0.0625)
        #expect(
            Logs.table([log]).lines == [
                "LOG  SAMPLES  EVERY  LASTED  CHARGE  ENERGY", "A01  521      1 s    8 min   13 mAh  0.063 Wh",
            ])
        var reading = Reading()
        reading[.voltage] = 5.25
        reading[.current] = -0.5
        #expect(Logs.header == "t_s,voltage_V,current_A,charge_mAh,energy_Wh")
        #expect(Logs.csv(MeterLogSampleLine(t: 1.5, values: ReadingBody(reading))) == "1.5,5.25,-0.5,,")
    }
}

/// What happened to a meter, in words.
struct MeterLogOutputTests {
    private func line(_ kind: String, _ what: String, _ detail: String?, until: String? = "b") -> LogLineBody {
        var line = LogLineBody(
            kind: kind, at: "a", until: until, age_ms: 1, count: 1, mine: true, host_time: "h", what: what)
        line.detail = detail
        return line
    }

    @Test func eachKind_hasItsWords() {
        var held = line("held", "ble", nil, until: nil)
        (held.token, held.last_token) = (7, 7)
        var many = line("held", "usb", "given back")
        (many.token, many.last_token) = (7, 506)
        var remedy = line("remedy", "discovery is restarted", "silence")
        remedy.adapter = "00:11:22:33:44:55"
        let lines = [
            held, many, line("held", "spp", "revoked"), line("state", "offline", "device gone"),
            line("setting", "name", "Bench"), line("setting", "all settings", "deleted"),
            line("command", "rotate", "done"), remedy, line("of-tomorrow", "something", nil),
        ]
        #expect(
            lines.map(LogText.what) == [
                "held over ble, token 7", "held over usb, tokens 7 to 506: given back",
                "held over spp, without a lease: revoked", "offline: device gone", "name = Bench",
                "all settings deleted", "rotate: done",
                "discovery is restarted (adapter 00:11:22:33:44:55): silence", "something",
            ])
    }

    @Test func table_hasTheHost_andHowOftenAndUntilWhen() {
        var flapping = line("state", "not-connected", "link lost")
        (flapping.count, flapping.host) = (1500, "alpha")
        var turned = line("command", "rotate", "done", until: "a")
        (turned.host, turned.by) = ("alpha", "beta\u{202E}")
        #expect(
            LogText.table([flapping, turned, line("held", "ble", nil, until: nil)], .berlin).lines == [
                "WHEN  UNTIL  TIMES  HOST   WHAT                            BY",
                "a     b      1,500  alpha  not-connected: link lost",
                "a                   alpha  rotate: done                    beta\\u{202E}",
                "a     now                  held over ble, without a lease",
            ])
    }

    @Test func closingLines_sayWhatIsMissing() {
        var body = LogBody(meter: "m", log: [], cut: true, others: .asked)
        body.silent = ["beta", "gamma"]
        body.unshared = ["delta"]
        #expect(
            LogText.closing(body) == [
                "there are older lines: --limit and --since show more of them",
                "no answer from beta, gamma: their part is missing", "delta shares nothing of what happened there",
            ])
        var alone = LogBody(meter: "m", log: [], others: .unreachable)
        alone.error = "no route"
        #expect(LogText.closing(alone) == ["only this host's part: the cloud cannot be asked (no route)"])
        #expect(
            LogText.closing(LogBody(meter: "m", log: [], others: .none)) == [
                "only this host's part: it belongs to no cloud"
            ])
        #expect(LogText.closing(LogBody(meter: "m", log: [], others: .asked)).isEmpty)
    }

    @Test func since_isATimeADateOrALengthOfTime() {
        func query(_ text: String) -> String? { MomentArgument(argument: text)?.query(.berlin) }
        #expect(query("2h") == "within_ms=7200000")
        #expect(query("2026-11-21") == "since=2026-11-20T23%3A00%3A00.000Z")
        #expect(query("14:03") == "since=2026-11-22T13%3A03%3A00.000Z")
        #expect(query("2026-11-21T13:40:05+02:00") == "since=2026-11-21T11%3A40%3A05.000Z")
        #expect(query("3m ago") == query("3m"))
        for wrong in ["", "yesterday", "2026-13-01", "-2h", " ago", "ago"] {
            #expect(MomentArgument(argument: wrong) == nil)
        }
    }
}

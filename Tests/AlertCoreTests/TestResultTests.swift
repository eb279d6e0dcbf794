import Domain
import Testing

struct TestResultTests {
    private func result(_ end: String = "cutoff", gaps: Int = 0) -> TestResult {
        TestResult(
            recording: "1a2b3c4d", end: end, charge_mAh: 2345.4, energy_Wh: 11.724, duration: .seconds(12_000),
            gapTime: .seconds(gaps * 123), gapCount: gaps)
    }

    private func message(_ result: TestResult) throws -> String {
        AlertNotice(
            result, try AlertParser.pattern("current < 50mA for 30s"), name: "cell", of: .mac(MACAddress(bits: 7)),
            value: 0.049,
            at: WallTime(millisecondsSince1970: 0)
        ).message
    }

    @Test func message_saysWhatFlowed_andUntilWhat() throws {
        #expect(
            try message(result()) == "2345 mAh and 11.72 Wh in 3 h 20 min. Its cut-off: current < 50mA for 30s")
    }

    @Test func message_saysWhatIsUnknown() throws {
        #expect(try message(result(gaps: 1)).contains("what flowed in a gap, 2 min 3 s in all, is not in it"))
        #expect(try message(result(gaps: 2)).contains("what flowed in 2 gaps, 4 min 6 s in all, is not in it"))
        #expect(try message(result("gap")).contains("the meter was not heard any more"))
    }

    @Test func title_isOfTheTest() throws {
        var notice = AlertNotice(
            result(), try AlertParser.pattern("voltage < 3V"), name: "cell 4", of: .mac(MACAddress(bits: 7)),
            value: nil,
            at: WallTime(millisecondsSince1970: 0))
        notice.meterName = "bench"

        #expect(notice.title == "battery test over: cell 4, bench")
    }

    @Test func nothingMeasured_isSaid() throws {
        var none = result()
        (none.charge_mAh, none.energy_Wh) = (nil, nil)

        #expect(try message(none).hasPrefix("nothing was measured"))
    }

    @Test(arguments: [
        (0, "0 s"), (999, "0 s"), (1000, "1 s"), (59_999, "59 s"), (60_000, "1 min"), (61_000, "1 min 1 s"),
        (3_599_000, "59 min 59 s"), (3_600_000, "1 h"), (3_601_000, "1 h"), (3_661_000, "1 h 1 min"),
        (90_061_000, "25 h 1 min"), (-5000, "0 s"),
    ])
    func length_isInTheUnitsPeopleUse(milliseconds: Int, words: String) throws {
        var result = result()
        result.duration = .milliseconds(milliseconds)
        #expect(result.message == "2345 mAh and 11.72 Wh in \(words)")
    }

    @Test(arguments: [
        (0.0, "0 mAh and 0.00 Wh"), (0.05, "0 mAh and 0.05 Wh"), (9.999, "10 mAh and 10.00 Wh"),
        (12.3, "12 mAh and 12.30 Wh"), (0.5, "1 mAh and 0.50 Wh"), (-0.5, "-1 mAh and -0.50 Wh"),
        (1e12, "1000000000000.0 mAh and 1000000000000.0 Wh"),
    ])
    func numbers_haveTwoDecimalsOrNone(value: Double, words: String) {
        var result = result()
        (result.charge_mAh, result.energy_Wh) = (value, value)
        #expect(result.message == words + " in 3 h 20 min")
    }

    @Test func oneOfTheTwoAlone_isNothingMeasured() {
        var result = result()
        result.energy_Wh = nil
        #expect(result.message == "nothing was measured")
    }
}

/// What people read of an alert.
struct AlertNoticeTests {
    private func notice(
        _ event: AlertNotice.Event, _ text: String = "voltage > 5V", value: Double? = nil, named: Bool = false
    ) throws -> AlertNotice {
        let meter = MeterID.mac(MACAddress(bits: 7))
        let rule = AlertRule(
            id: AlertID(rawValue: 3), meter: meter, pattern: try AlertParser.pattern(text), name: named ? "full" : nil)
        return AlertNotice(event, rule, meterName: named ? "bench" : nil, value: value, at: .start)
    }

    @Test func everyEvent_hasItsWords() throws {
        let cases: [(AlertNotice.Event, String, String, String)] = [
            (.raised, "full: bench", "voltage > 5V: 00:00:00:00:00:07", "voltage > 5V; it is 6.5 V now"),
            (
                .cleared, "over: full: bench", "over: voltage > 5V: 00:00:00:00:00:07",
                "voltage > 5V is over; it is 6.5 V now"
            ),
            (.happened, "full: bench", "voltage > 5V: 00:00:00:00:00:07", "the meter changed hands"),
            (.test, "test: full: bench", "test: voltage > 5V: 00:00:00:00:00:07", "this is a test of voltage > 5V"),
            (
                .finished, "battery test over: full, bench", "battery test over: 00:00:00:00:00:07",
                "it is over. Its cut-off: voltage > 5V"
            ),
        ]
        for (event, named, plain, message) in cases {
            let notice = try notice(event, value: 6.5, named: true)
            #expect(notice.title == named)
            #expect(notice.message == message)
            #expect(try self.notice(event, value: 6.5).title == plain)
        }
        var handed = try notice(.happened, "holder changes")
        handed.holder = "pi"
        #expect(handed.message == "the meter changed hands: pi has it now")
        #expect(handed.rule.rawValue == 3)
        let result = AlertNotice(
            result(), handed.pattern, name: nil, of: handed.meter, value: nil, at: .start)
        #expect(result.rule.rawValue == 0)
    }

    private func result() -> TestResult {
        TestResult(
            recording: "1a2b3c4d", end: "cutoff", charge_mAh: 1, energy_Wh: 1, duration: .zero, gapTime: .zero,
            gapCount: 0)
    }

    @Test(arguments: [
        ("voltage > 5V", 5.00004, "5.0 V"), ("voltage > 5V", 5.00006, "5.0001 V"), ("price > 5", 7, "7.0"),
        ("voltage > 5V", 999_999_999, "999999999.0 V"), ("voltage > 5V", 1_234_567_890.123456, "1234567890.123456 V"),
    ])
    func value_hasFourDecimalsAtMost(text: String, value: Double, shown: String) throws {
        #expect(try notice(.raised, text, value: value).message == "\(text); it is \(shown) now")
        #expect(try notice(.raised, text).message == text)
    }
}

extension AlertNotice {
    fileprivate var pattern: AlertPattern { AlertPattern(.holderChanges, text: condition) }
}

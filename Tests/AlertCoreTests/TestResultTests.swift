import AlertCore
import MeterModel
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
}

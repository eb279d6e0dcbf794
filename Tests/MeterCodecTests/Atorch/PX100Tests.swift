import MeterCodec
import MeterModel
import Testing

/// Messages by protocols.md 6.5.
struct PX100Tests {
    @Test(arguments: [
        (PX100Query.isOn, 0x10), (.voltage, 0x11), (.current, 0x12), (.time, 0x13), (.charge, 0x14), (.energy, 0x15),
        (.temperature, 0x16), (.currentLimit, 0x17), (.voltageCutoff, 0x18), (.timer, 0x19),
    ])
    func query_isSixBytes(query: PX100Query, code: Int) {
        #expect(query.bytes == [0xB1, 0xB2, UInt8(code), 0, 0, 0xB6])
    }

    @Test(arguments: [
        (PX100Setting.on(true), "b1b2010100b6"), (.on(false), "b1b2010000b6"),
        (.current(hundredths: 150), "b1b2020132b6"),
        (.voltageCutoff(hundredths: 299), "b1b2030263b6"), (.timer(seconds: 3600), "b1b2040e10b6"),
        (.clear, "b1b2050000b6"),
    ])
    func setting_isSixBytes(setting: PX100Setting, bytes: String) throws {
        #expect(try Hex.encode(#require(setting.bytes)) == bytes)
    }

    @Test(arguments: [
        PX100Setting.current(hundredths: -1), .current(hundredths: 25_600), .voltageCutoff(hundredths: 25_600),
        .timer(seconds: -1), .timer(seconds: 65_536),
    ])
    func setting_hasNoBytes_whenTheNumberDoesNotFit(setting: PX100Setting) {
        #expect(setting.bytes == nil)
    }

    @Test(arguments: [
        (PX100Query.voltage, 12.345), (.current, 12.345), (.charge, 12.345), (.energy, 12.345), (.currentLimit, 123.45),
        (.voltageCutoff, 123.45), (.temperature, 12345), (.isOn, 1),
    ])
    func answer_isScaledByItsQuery(query: PX100Query, value: Double) throws {
        // 003039 = 12345.
        let answer = try #require(PX100Answer([0xCA, 0xCB, 0x00, 0x30, 0x39, 0xCE, 0xCF]))
        #expect(answer.value(for: query) == value)
    }

    @Test func time_isHoursMinutesAndSeconds() throws {
        let answer = try #require(PX100Answer([0xCA, 0xCB, 7, 44, 28, 0xCE, 0xCF]))
        #expect(answer.value(for: .time) == 27_868)
        #expect(answer.value(for: .timer) == 27_868)
    }

    @Test func otherBytes_areNoAnswer() {
        #expect(PX100Answer([]) == nil)
        #expect(PX100Answer([0xCA, 0xCB, 0, 0, 0, 0xCE]) == nil)
        #expect(PX100Answer([0xCA, 0xCB, 0, 0, 0, 0xCE, 0xCE]) == nil)
        #expect(PX100Answer([0xCA, 0xCB, 0, 0, 0, 0xCE, 0xCF, 0]) == nil)
    }
}

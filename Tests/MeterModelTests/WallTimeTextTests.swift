import MeterModel
import Testing

struct WallTimeTextTests {
    /// The numbers are from `date -u -d … +%s`, not from this code.
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", Int64(0)), ("1969-12-31T23:59:59.999Z", -1),
        ("1900-02-28T23:59:59.999Z", -2_203_891_200_001), ("2000-02-29T12:00:00.000Z", 951_825_600_000),
        ("2026-11-21T13:40:05.250Z", 1_795_268_405_250), ("2026-11-21T14:40:05.25+01:00", 1_795_268_405_250),
        ("2026-11-21T08:10:05.2509-05:30", 1_795_268_405_250), ("2026-11-21 13:40:05Z", 1_795_268_405_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
    ])
    func text_isRead(_ text: String, _ milliseconds: Int64) {
        #expect(WallTime(text)?.millisecondsSince1970 == milliseconds)
    }

    @Test(arguments: [
        "", "now", "2026-11-21", "2026-11-21T13:40Z", "2026-11-21T13:40:05", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T13:60:05Z", "2026-11-21T13:40:61Z", "2026-11-21T13:40:05.Z", "2026-11-21T13:40:05+1:00",
        "2026-11-21T13:40:05Z ", "+026-11-21T13:40:05Z", "2026-11-21T13:40:05+24:00",
    ])
    func otherText_isNone(_ text: String) {
        #expect(WallTime(text) == nil)
    }

    @Test func everyTime_readsBack() {
        for step in Int64(0)..<2000 {
            let time = WallTime(millisecondsSince1970: -62_167_219_200_000 + step * 157_784_630_123)

            #expect(WallTime(time.description) == time)
        }
    }
}

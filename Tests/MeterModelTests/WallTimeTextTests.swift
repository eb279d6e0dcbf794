import Domain
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

    /// Both ways, day by day through the years around every kind of leap year, against a calendar that only counts.
    @Test func everyDay_followsTheOneBefore() {
        var day = Int64(0)
        var checked = 0
        for year in 0...2401 {
            let isLeap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            if [0, 1, 3, 4, 99, 100, 101, 399, 400, 1600, 1899, 1900, 1969, 1970, 1972, 2000, 2100, 2399, 2400]
                .contains(year)
            {
                var place = day
                for (month, length) in lengths.enumerated() {
                    for inMonth in [1, 2, 15, length - 1, length] {
                        let time = WallTime(millisecondsSince1970: (place + Int64(inMonth) - 1 - 719_528) * 86_400_000)
                        let text = "\(digits(year, 4))-\(digits(month + 1, 2))-\(digits(inMonth, 2))T00:00:00.000Z"
                        #expect(time.description == text)
                        #expect(WallTime(text) == time)
                        checked += 1
                    }
                    #expect(
                        WallTime("\(digits(year, 4))-\(digits(month + 1, 2))-\(digits(length + 1, 2))T00:00:00Z") == nil
                    )
                    place += Int64(length)
                }
            }
            day += Int64(lengths.reduce(0, +))
        }
        #expect(checked == 19 * 60)
    }

    private func digits(_ number: Int, _ count: Int) -> String {
        String(repeating: "0", count: count - "\(number)".count) + "\(number)"
    }

    /// Each part at its end and beyond it, each sign where it belongs, each letter in both sizes.
    @Test(arguments: [
        ("2026-11-21t13:40:05z", true), ("2026-11-21T13:40:05.1Z", true), ("2026-11-21T13:40:05.12Z", true),
        ("2026-11-21T13:40:05.1234Z", true), ("2026-11-21T23:59:60+23:59", true), ("2026-11-21T13:40:05-23:59", true),
        ("2026-11-21T13:40:05-00:60", false), ("2026-11-21T13:40:05+0100", false), ("2026-11-21T13:40:05+01:0", false),
        ("2026/11-21T13:40:05Z", false), ("2026-11/21T13:40:05Z", false), ("2026-11-21_13:40:05Z", false),
        ("2026-11-21T13.40:05Z", false), ("2026-11-21T13:40.05Z", false), ("2026-11-21T13:40:05,5Z", false),
        ("2026-11-21T13:40:05", false), ("2026-00-21T13:40:05Z", false), ("2026-1a-21T13:40:05Z", false),
        ("2026-11-21T13:40:05.5:Z", false), ("2026-11-21T13:40:05./Z", false), ("2026-11-21T13:40:05 01:00", false),
        ("202-011-21T13:40:05Z", false), ("2026-11-21T13:40:0:Z", false), ("2026-11-21T13:40:05ZZ", false),
        ("2026-11-21T13:40:/5Z", false), ("2026-11-21T13:40:05*01:00", false),
    ])
    func text_isReadStrictly(text: String, isRead: Bool) {
        #expect((WallTime(text) != nil) == isRead)
    }

    @Test func fractions_areMilliseconds_andOffsetsMinutes() {
        let base = WallTime("2026-11-21T13:40:05Z")
        for (text, milliseconds) in [
            ("2026-11-21T13:40:05.9Z", 900), ("2026-11-21T13:40:05.09Z", 90), ("2026-11-21T13:40:05.009Z", 9),
            ("2026-11-21T13:40:05.0999Z", 99), ("2026-11-21T13:40:05+00:01", -60_000),
            ("2026-11-21T13:40:05-00:01", 60_000), ("2026-11-21T13:40:05-23:59", 86_340_000),
            ("2026-11-21T13:40:06Z", 1000), ("2026-11-21T13:41:05Z", 60_000), ("2026-11-21T14:40:05z", 3_600_000),
        ] {
            #expect(WallTime(text) == base.map { $0 + .milliseconds(milliseconds) }, "\(text)")
        }
    }

    @Test func everyTime_readsBack() {
        for step in Int64(0)..<2000 {
            let time = WallTime(millisecondsSince1970: -62_167_219_200_000 + step * 157_784_630_123)

            #expect(WallTime(time.description) == time)
        }
    }
}

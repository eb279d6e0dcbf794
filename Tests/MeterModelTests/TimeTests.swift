import Domain
import Testing

struct WallTimeTests {
    /// The numbers are from `date -u -d … +%s`, not from this code.
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-2_203_891_200_001, "1900-02-28T23:59:59.999Z"),
        (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
        (951_825_600_000, "2000-02-29T12:00:00.000Z"),
        (1_795_268_405_250, "2026-11-21T13:40:05.250Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func time_isRFC3339_withMilliseconds(_ milliseconds: Int64, _ text: String) {
        #expect(WallTime(millisecondsSince1970: milliseconds).description == text)
    }

    @Test func time_printsClamped_outsideFourDigitYears() {
        #expect(WallTime(millisecondsSince1970: 253_402_300_800_000).description == "9999-12-31T23:59:59.999Z")
        #expect(WallTime(millisecondsSince1970: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(WallTime(millisecondsSince1970: .min).description == "0000-01-01T00:00:00.000Z")
    }

    @Test func adding_stopsAtTheEndOfTime() {
        #expect((WallTime(millisecondsSince1970: .max) + .seconds(1)).millisecondsSince1970 == .max)
        #expect((WallTime(millisecondsSince1970: .min) + .seconds(-1)).millisecondsSince1970 == .min)
        #expect((WallTime(millisecondsSince1970: 5) + .milliseconds(-7)).millisecondsSince1970 == -2)
    }
}

struct DurationTextTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("2s", .seconds(2)), ("1.5s", .milliseconds(1500)),
        ("3m", .seconds(180)),
        ("1h", .seconds(3600)), ("10", .seconds(10)), ("0", .zero), ("0.4ms", .zero), ("10S", .seconds(10)),
        ("5M", .seconds(300)),
    ])
    func shortText_isRead(_ text: String, _ duration: Duration) {
        #expect(Duration(shortText: text) == duration)
        #expect(Duration(shortText: duration.shortText) == duration)
    }

    @Test(arguments: [
        "", "s", "ms", "-1s", "5 s", " 5s", "1d", "1m30s", "five", "nan", "infs", "1e300h", "1e400", "--1", "٣s", "1e3",
        "0x10", "0x1p3", "1.5.2s", ".", "+1s", "infinity", "1_000",
    ])
    func anythingElse_isNoDuration(_ text: String) {
        #expect(Duration(shortText: text) == nil)
    }

    @Test(arguments: [
        (0, "0ms"), (1, "1ms"), (999, "999ms"), (1000, "1s"), (1001, "1001ms"), (59_000, "59s"), (60_000, "1m"),
        (61_000, "61s"), (90_000, "90s"), (3_600_000, "1h"), (3_660_000, "61m"), (5_400_000, "90m"), (7_200_000, "2h"),
        (-1000, "-1s"),
    ])
    func shortText_isTheShortest(milliseconds: Int, text: String) {
        #expect(Duration.milliseconds(milliseconds).shortText == text)
    }

    @Test(arguments: [
        ("999999999999s", true), ("1000000000000s", false), ("99999999999999999999s", false), ("0.5ms", true),
        ("0.0005s", true), ("1.5m", true),
        ("0.5h", true), ("1.5", true),
    ])
    func longestText_isRead(text: String, isRead: Bool) {
        #expect((Duration(shortText: text) != nil) == isRead)
        #expect(Duration(shortText: "0.5h") == .seconds(1800))
        #expect(Duration(shortText: "1.5m") == .seconds(90))
        #expect(Duration(shortText: "0.0005s") == .milliseconds(1))
    }

    /// Rounded towards zero on both sides of it, and clamped beyond what fits.
    @Test(arguments: [
        (Duration.seconds(2), Int64(2000)), (.milliseconds(1999), 1999), (.microseconds(-1999), -1),
        (.nanoseconds(1), 0),
        (.seconds(-3) + .microseconds(500), -2999), (.seconds(Int64.max / 1000), Int64.max / 1000 * 1000),
        (.seconds(Int64.max / 1000 + 1), .max), (.seconds(Int64.min / 1000 - 1), .min),
        (.milliseconds(Int64.max) + .milliseconds(1), .max), (.milliseconds(Int64.min) - .milliseconds(1), .min),
        (.milliseconds(Int64.max), .max), (.milliseconds(Int64.min), .min),
    ])
    func milliseconds_areWhole(duration: Duration, milliseconds: Int64) {
        #expect(duration.milliseconds == milliseconds)
    }

    @Test(arguments: [
        (Duration.seconds(2), Int64(2_000_000_000)), (.nanoseconds(1999), 1999), (.nanoseconds(-1), -1),
        (.seconds(-3) + .nanoseconds(5), -2_999_999_995), (.seconds(Int64.max / 1_000_000_000 + 1), .max),
        (.seconds(Int64.min / 1_000_000_000 - 1), .min), (.seconds(Int64.min), .min),
        (.nanoseconds(Int64.max) + .nanoseconds(1), .max), (.nanoseconds(Int64.min) - .nanoseconds(1), .min),
    ])
    func nanoseconds_areWhole(duration: Duration, nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }

    @Test func moments_areOrdered_andApart() {
        let (one, other) = (MonotonicTime.origin + .seconds(2), MonotonicTime.origin + .seconds(5))
        #expect(one < other)
        #expect(!(one < one) && !(other < one))
        #expect(other - one == .seconds(3))
        #expect(other - .seconds(3) == one)
        #expect(one.sinceOrigin == .seconds(2))
        let (day, next) = (WallTime(millisecondsSince1970: 1), WallTime(millisecondsSince1970: 2))
        #expect(day < next)
        #expect(!(day < day) && !(next < day))
    }

    @Test func earliest_isTheEarlierMoment_ofThoseThereAre() {
        let (one, other) = (MonotonicTime.origin + .seconds(2), MonotonicTime.origin + .seconds(5))
        #expect(MonotonicTime.earliest(one, other) == one)
        #expect(MonotonicTime.earliest(other, one) == one)
        #expect(MonotonicTime.earliest(nil, other) == other)
        #expect(MonotonicTime.earliest(other, nil) == other)
        #expect(MonotonicTime.earliest(nil, nil) == nil)
    }

    @Test func milliseconds_areClamped_insteadOfTrapping() {
        #expect(Duration.seconds(Int64.max).milliseconds == .max)
        #expect(Duration.seconds(Int64.min).milliseconds == .min)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.milliseconds(-1500).milliseconds == -1500)
        #expect(Duration.microseconds(1999).milliseconds == 1)
    }
}

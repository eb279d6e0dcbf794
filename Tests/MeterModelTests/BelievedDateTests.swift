import MeterModel
import Testing

/// A date by which things are deleted is not taken from any calendar.
struct BelievedDateTests {
    private let day = Duration.seconds(86_400)
    private let today = WallTime(millisecondsSince1970: 1_790_000_000_000)
    private let year2099 = WallTime(millisecondsSince1970: 4_080_000_000_000)
    private let year1970 = WallTime(millisecondsSince1970: 60_000)

    @Test func begins_withTheNewestDateStored() {
        #expect(BelievedDate(newest: today, calendar: year2099).date == today)
        #expect(BelievedDate(newest: today, calendar: year1970).date == year1970)
        #expect(BelievedDate(newest: nil, calendar: today).date == today)
    }

    @Test func startIn2099_makesNothingOld() {
        var believed = BelievedDate(date: today)

        believed.doubt(year2099...year2099)

        #expect(believed.date == today)
        #expect(!believed.isOlder(today, than: day))
    }

    @Test func confirmedCalendar_isFollowed_aDayAnHour() {
        var believed = BelievedDate(date: today)

        believed.advance(toConfirmed: today + day * 30, running: .seconds(3600), next: today + .seconds(1))

        #expect(believed.date == today + day + .seconds(1))
    }

    @Test func confirmedYearLongAbsence_isSkipped() {
        var believed = BelievedDate(date: today)
        let later = today + day * 365

        believed.advance(toConfirmed: later, running: .zero, next: later + .seconds(-60))
        #expect(believed.date == later + .seconds(-60))
        #expect(believed.isOlder(today, than: day * 300))
        believed.advance(toConfirmed: later, running: .seconds(3600), next: nil)
        #expect(believed.date == later)
    }

    @Test func calendarThatSaysLess_isFollowedAtOnce() {
        var believed = BelievedDate(date: year2099)

        believed.advance(toConfirmed: today, running: .zero, next: nil)

        #expect(believed.date == today)
    }

    @Test func startIn1970_agesFromTheNextConfirmation() {
        var believed = BelievedDate(date: today)
        believed.doubt(year1970...year1970 + .seconds(60))
        #expect(!believed.isOlder(year1970, than: day))

        believed.advance(toConfirmed: today, running: .zero, next: nil)
        #expect(!believed.isOlder(year1970, than: day))
        believed.advance(toConfirmed: today + day * 2, running: .seconds(7200), next: nil)

        #expect(believed.isOlder(year1970, than: day))
        #expect(!believed.isOlder(today + day * 2, than: day))
    }

    @Test func doubt_isWrittenDownOnceADay_andOnceForEachStep() {
        var believed = BelievedDate(date: today)

        let spans = [
            today...today, today + .seconds(60)...today + .seconds(120), today + day...today + day + .seconds(60),
            year2099...year2099,
        ]
        let isNew = spans.map { believed.doubt($0) }

        #expect(isNew == [true, false, true, true])
        #expect(believed.doubts.map(\.first) == [today, year2099])
    }

    @Test func manyDoubts_becomeFewer_andNoneIsLost() {
        var believed = BelievedDate(date: today)
        for number in 0..<100 { believed.doubt(today + day * (number * 10)...today + day * (number * 10)) }

        #expect(believed.doubts.count == 32)
        believed.advance(toConfirmed: year2099, running: .zero, next: nil)
        #expect(believed.date == year2099)
        #expect((0..<100).allSatisfy { !believed.isOlder(today + day * ($0 * 10), than: day) })
    }
}

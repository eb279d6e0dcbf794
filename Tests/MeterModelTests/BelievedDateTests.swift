import Domain
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

    /// The same dates are doubted once, whatever part of them comes again; what adjoins them within a day is one with them.
    @Test func doubt_growsByWhatAdjoins_andBeginsAnewBeyondADay() {
        let first = today + .seconds(1000)
        let spans: [(ClosedRange<WallTime>, Bool, Int)] = [
            (first...first, false, 1), (first...first + day, false, 1),
            (first...first + day + .milliseconds(1), true, 1),
            (first + .milliseconds(-1)...first, true, 1), (first + .seconds(10)...first + .seconds(20), false, 1),
            (first + day * 2...first + day * 2, true, 1),
            (first + day * 2 + .milliseconds(1)...first + day * 3, true, 2),
            (first + day * -1...first + day * -1, true, 1),
            (first + day * -2...first + day * -1 + .milliseconds(-1), true, 2),
        ]
        for (span, isNew, count) in spans {
            var believed = BelievedDate(date: today)
            #expect(believed.doubt(first...first) == true)
            #expect(believed.doubts == [.init(first: first, last: first + day)])

            #expect(believed.doubt(span) == isNew)

            #expect(believed.doubts.count == count)
            let held = believed.doubts
            #expect(believed.doubt(span) == false, "it is known then")
            #expect(believed.doubts == held)
            #expect(held.contains { $0.first <= span.lowerBound && span.upperBound <= $0.last })
            #expect(held.contains { $0.first <= first && first + day <= $0.last })
            guard isNew, count == 1 else { continue }
            #expect(held[0].first == min(first, span.lowerBound))
            #expect(held[0].last == max(first + day, span.upperBound + day))
        }
    }

    /// A doubt counts from the first confirmation; what comes after it is another doubt.
    @Test func confirmation_isTheFirst_andEndsADoubt() {
        var believed = BelievedDate(date: today)
        believed.doubt(today...today)
        believed.confirm(today + day)
        believed.confirm(today + day * 5)
        #expect(believed.doubts.map(\.confirmed) == [today + day])
        #expect(believed.doubt(today...today) == true)
        #expect(believed.doubts.map(\.confirmed) == [today + day, nil])
        believed.confirm(today + day * 6)
        #expect(believed.doubts.map(\.confirmed) == [today + day, today + day * 6])
    }

    /// To the millisecond: at both ends of what is doubted, and where the age counts from the confirmation.
    @Test func age_isExact() {
        var believed = BelievedDate(date: today)
        #expect(!believed.isOlder(today + day * -1, than: day))
        #expect(believed.isOlder(today + day * -1 + .milliseconds(-1), than: day))

        let (first, last) = (today + day * -9, today + day * -8)
        believed.doubt(first...first)
        for (time, isDoubted) in [
            (first, true), (last, true), (first + .milliseconds(-1), false), (last + .milliseconds(1), false),
        ] {
            #expect(believed.isOlder(time, than: day) == !isDoubted)
        }
        for (confirmed, isOlder) in [(today + day * -1, false), (today + day * -1 + .milliseconds(-1), true)] {
            var believed = believed
            believed.confirm(confirmed)
            #expect(believed.isOlder(first, than: day) == isOlder)
        }
    }

    @Test func time_neverGoesBackByRunning_andIsSkippedOnlyToWhatIsStored() {
        for (running, next, expected) in [
            (.seconds(-3600), .some(.seconds(1)), .seconds(1)),
            (.seconds(-3600), .some(.seconds(-50)), .zero), (.seconds(10), .some(.zero), .seconds(240)),
            (.zero, nil, .seconds(864_000)), (.seconds(3600), .some(.seconds(900_000)), .seconds(864_000)),
        ] as [(Duration, Duration?, Duration)] {
            var believed = BelievedDate(date: today)
            believed.advance(toConfirmed: today + day * 10, running: running, next: next.map { today + $0 })
            #expect(believed.date == today + expected)
        }
    }

    /// Longer than anything is kept, and not for ever.
    @Test func doubt_isForgotten_afterTwentyYears() {
        let twenty = day * (20 * 366)
        for (later, isKept) in [(twenty, true), (twenty + .milliseconds(1), false)] {
            var believed = BelievedDate(date: today)
            believed.doubt(today...today)
            believed.confirm(today)
            believed.doubt(today...today)
            believed.confirm(today + twenty + day)
            believed.advance(toConfirmed: today + later, running: .zero, next: nil)
            #expect(believed.doubts.count == (isKept ? 2 : 1))
        }
    }

    /// The two oldest become one that hides what either would; one that is unconfirmed stays so.
    @Test func joinedDoubts_hideWhatBothHid() {
        for (one, other) in [(today, today + day), (today + day, today), (nil, today), (today, nil)]
            as [(WallTime?, WallTime?)]
        {
            for step in [-10, 10] {
                var doubts = (0..<32).map { number in
                    BelievedDate.Doubt(
                        first: today + day * (number * step), last: today + day * (number * step + 1), confirmed: today)
                }
                (doubts[0].confirmed, doubts[1].confirmed) = (one, other)
                var believed = BelievedDate(date: today, doubts: doubts)
                believed.doubt(year2099...year2099)

                #expect(believed.doubts.count == 32)
                #expect(believed.doubts[0].first == min(doubts[0].first, doubts[1].first))
                #expect(believed.doubts[0].last == max(doubts[0].last, doubts[1].last))
                #expect(believed.doubts[0].confirmed == one.flatMap { one in other.map { max(one, $0) } })
                #expect(believed.doubts[1] == doubts[2])
                #expect(believed.doubts.last?.first == year2099)
            }
        }
    }
}

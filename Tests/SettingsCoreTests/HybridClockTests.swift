import Domain
import Testing

struct HybridClockTests {
    @Test func stamp_isTheWallClock_whereThatGoesOn() {
        var clock = HybridClock(host: Sample.one)

        let stamps = [clock.tick(physical: 5), clock.tick(physical: 7)]

        #expect(stamps == [Sample.stamp(5), Sample.stamp(7)])
    }

    @Test func counter_rises_whereTheWallClockStandsOrGoesBack() {
        var clock = HybridClock(host: Sample.one)

        let stamps = [clock.tick(physical: 5), clock.tick(physical: 5), clock.tick(physical: 0)]

        #expect(stamps == [Sample.stamp(5), Sample.stamp(5, 1), Sample.stamp(5, 2)])
    }

    @Test func write_isYounger_thanAnythingSeen() {
        var clock = HybridClock(host: Sample.one)
        let seen = Sample.stamp(1_000_000, 12, Sample.two)
        clock.observe(seen)
        clock.observe(Sample.stamp(3, 0, Sample.two))

        let stamp = clock.tick(physical: 10)

        #expect(stamp > seen)
        #expect(stamp == Sample.stamp(1_000_000, 13))
    }

    @Test func counterOverflow_borrowsAMillisecond() {
        var clock = HybridClock(host: Sample.one, milliseconds: 9, counter: .max)

        let stamp = clock.tick(physical: 9)

        #expect(stamp == Sample.stamp(10, 0))
    }

    @Test func endOfTime_givesNoSmallerStamp() {
        var clock = HybridClock(host: Sample.one, milliseconds: .max, counter: .max - 1)

        let stamps = [clock.tick(physical: 1), clock.tick(physical: .max), clock.tick(physical: 2)]

        #expect(stamps == Array(repeating: Sample.stamp(.max, .max), count: 3))
    }

    @Test func lowering_goesDownOnly() {
        var clock = HybridClock(host: Sample.one, milliseconds: 100, counter: 5)

        clock.lower(to: Sample.stamp(100, 6))
        let before = clock
        clock.lower(to: Sample.stamp(50, 1))
        let stamp = clock.tick(physical: 0)
        clock.lower(to: nil)

        #expect(before == HybridClock(host: Sample.one, milliseconds: 100, counter: 5))
        #expect(stamp == Sample.stamp(50, 2))
        #expect(clock == HybridClock(host: Sample.one))
    }

    // MARK: Restamping

    @Test func refusedStamps_areStampedAnew_inTheirOrder() {
        let years: UInt64 = 9_000_000
        var clock = HybridClock(host: Sample.one, milliseconds: years, counter: 2)
        let refused = [Sample.stamp(years), Sample.stamp(years, 1), Sample.stamp(years, 2)]

        let stamps = clock.restamp(
            refused.map { .init(refused: $0, now: 1000) }, accepted: Sample.stamp(900, 4, Sample.two))

        #expect(stamps == [Sample.stamp(1000), Sample.stamp(1000, 1), Sample.stamp(1000, 2)])
    }

    @Test func stampsThatAreRight_areKept_andTheNewOnesFollow() {
        var clock = HybridClock(host: Sample.one, milliseconds: 9_000_000)
        let right = Sample.stamp(950, 3)

        let stamps = clock.restamp(
            [.init(refused: Sample.stamp(9_000_000), now: 940), .init(stamp: right, physical: nil)],
            accepted: Sample.stamp(900))

        #expect(stamps == [Sample.stamp(950, 4), nil])
    }

    @Test func newStamps_areAboveWhatTheCloudKnows_whereTheHostsClockIsBehind() {
        var clock = HybridClock(host: Sample.one, milliseconds: 9_000_000)

        let stamps = clock.restamp([.init(refused: Sample.stamp(9_000_000), now: 10)], accepted: Sample.stamp(5000, 7))

        #expect(stamps == [Sample.stamp(5000, 8)])
    }

    @Test(
        arguments: [(100_000, 160_000, true), (100_000, 160_001, false), (160_001, 100_000, false)]
            as [(UInt64, UInt64, Bool)])
    func stampOfThisBoot_isKept_whereItIsAMinuteOffAtMost(_ stamped: UInt64, _ made: UInt64, _ isKept: Bool) {
        let waiting = HybridClock.Waiting(stamp: Sample.stamp(stamped), made: made)

        #expect((waiting.physical == nil) == isKept)
    }

    @Test func editsOfAHostThatBootedInThePast_moveToWhenTheyWereMade() {
        var clock = HybridClock(host: Sample.one, milliseconds: 1000, counter: 2)
        let waiting: [HybridClock.Waiting] = [
            .init(stamp: Sample.stamp(1000, 1), made: 5_000_000), .init(stamp: Sample.stamp(1000, 2), made: 5_000_500),
        ]

        let stamps = clock.restamp(waiting, accepted: Sample.stamp(1000))

        #expect(stamps == [Sample.stamp(5_000_000), Sample.stamp(5_000_500)])
    }

    @Test func editsMadeWhileTheCalendarWasWrong_stayBeforeThoseOfAfterwards() {
        var clock = HybridClock(host: Sample.one, milliseconds: 5_100_000)
        let right = Sample.stamp(5_100_000)

        let stamps = clock.restamp(
            [.init(stamp: Sample.stamp(1000), made: 5_000_000), .init(stamp: right, made: 5_100_000)], accepted: nil)

        #expect(stamps == [Sample.stamp(5_000_000), nil])
        #expect(clock == HybridClock(host: Sample.one, milliseconds: 5_100_000))
    }

    @Test func editThatIsRight_getsALaterStamp_onlyWhereAnEarlierEditWouldComeAfterIt() {
        var clock = HybridClock(host: Sample.one, milliseconds: 5_150_000)

        let stamps = clock.restamp(
            [
                .init(stamp: Sample.stamp(1000), made: 5_000_000),
                .init(stamp: Sample.stamp(5_100_000), made: 5_100_000),
            ], accepted: Sample.stamp(5_150_000))

        #expect(stamps == [Sample.stamp(5_150_000, 1), Sample.stamp(5_150_000, 2)])
    }

    @Test func register_getsAnotherStamp_onlyWhereItStillHasTheOldOne() {
        var record = Sample.record(["a": Sample.register(1, 90), "b": Sample.register(2, 80)], deleted: 20)

        record.restamp([
            ("a", Sample.stamp(90), Sample.stamp(30)), ("b", Sample.stamp(70), Sample.stamp(30)),
            ("c", Sample.stamp(70), Sample.stamp(30)), (nil, Sample.stamp(20), Sample.stamp(25)),
        ])

        #expect(record == Sample.record(["a": Sample.register(1, 30), "b": Sample.register(2, 80)], deleted: 25))
    }

    @Test func whatWasWrittenAfterADeletion_stays_whenBothGetLaterStamps() {
        var record = Sample.record(["a": Sample.register(1, 30)], deleted: 20)

        record.restamp([(nil, Sample.stamp(20), Sample.stamp(520)), ("a", Sample.stamp(30), Sample.stamp(530))])

        #expect(record == Sample.record(["a": Sample.register(1, 530)], deleted: 520))
    }
}

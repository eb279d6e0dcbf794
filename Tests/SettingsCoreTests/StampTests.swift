import Domain
import Testing

struct StampTests {
    @Test func order_isTime_thenCounter_thenHost() {
        let ascending = [
            Sample.stamp(1, 9, Sample.two), Sample.stamp(2, 0, Sample.one), Sample.stamp(2, 0, Sample.two),
            Sample.stamp(2, 1, Sample.one), Sample.stamp(3, 0, Sample.one),
        ]

        let sorted = ascending.reversed().sorted()

        #expect(sorted == ascending)
        for (left, right) in zip(ascending, ascending.dropFirst()) { #expect(left < right && !(right < left)) }
    }

    @Test func milliseconds_areClamped_at48Bits() {
        #expect(Sample.stamp(.max).milliseconds == Stamp.millisecondsMax)
        #expect(Stamp.millisecondsMax == 0xFFFF_FFFF_FFFF)
    }

    @Test(arguments: [
        Sample.stamp(0), Sample.stamp(1_795_000_000_000, 7, Sample.two), Sample.stamp(.max, .max),
    ])
    func stamp_isReadBack_fromWhatItPrints(_ stamp: Stamp) {
        #expect(Stamp(stamp.description) == stamp)
    }

    @Test func text_isTimeCounterAndHost() {
        #expect(Sample.stamp(1234, 5).description == "1234.5.11111111-1111-4111-8111-111111111111")
    }

    @Test(arguments: [
        "", "1.2", "1.2.3", "1..11111111-1111-4111-8111-111111111111", "+1.2.11111111-1111-4111-8111-111111111111",
        "01.2.11111111-1111-4111-8111-111111111111", "1.02.11111111-1111-4111-8111-111111111111",
        "-1.2.11111111-1111-4111-8111-111111111111", "281474976710656.2.11111111-1111-4111-8111-111111111111",
        "1.65536.11111111-1111-4111-8111-111111111111", "1.2.11111111-1111-4111-8111-11111111111",
        "1.2.11111111-1111-4111-8111-111111111111.", " 1.2.11111111-1111-4111-8111-111111111111",
    ])
    func anythingElse_isNoStamp(_ text: String) {
        #expect(Stamp(text) == nil)
    }

    @Test func liftedStamps_areAboveTheDeletion_andBelowWhatComesAfterIt() {
        let deletion = Sample.stamp(100, 3, Sample.two)
        var clock = HybridClock(host: Sample.one)
        clock.observe(deletion)

        let lifted = Stamp.lifted(Sample.stamp(50), above: deletion)

        #expect(lifted > deletion)
        #expect(lifted < clock.tick(physical: 0))
        #expect(lifted.isLifted)
        #expect(!deletion.isLifted)
    }

    @Test func liftedStamps_keepTheirOrder() {
        let deletion = Sample.stamp(100)
        let ascending = [Sample.stamp(0), Sample.stamp(7, 1), Sample.stamp(7, 2), Sample.stamp(8), Sample.stamp(.max)]

        let lifted = ascending.map { Stamp.lifted($0, above: deletion) }

        for (left, right) in zip(lifted, lifted.dropFirst()) { #expect(left < right) }
    }
}

struct StampLimitTests {
    @Test func latest_isAMinuteAhead_ofTheCloudsClock() {
        #expect(StampLimit.latest(now: 1_000_000, accepted: 0) == 1_060_000)
        #expect(StampLimit.latest(now: 1_000_000, accepted: 500_000) == 1_060_000)
    }

    @Test func latest_isAStepAheadOfWhatWasAccepted_whereThatIsMore() {
        #expect(StampLimit.latest(now: 1_000_000, accepted: 2_000_000) == 2_000_001)
    }

    @Test func latest_doesNotOverflow() {
        #expect(StampLimit.latest(now: .max, accepted: .max) == .max)
    }
}

import ConnectionCore
import MeterModel
import Testing

struct SampleClockTests {
    /// An answer of samples a millisecond apart, the newest with this tick.
    private func ticks(_ count: Int, newest: UInt16, step: UInt16 = 1) -> SampleTicks {
        SampleTicks(oldest: newest &- UInt16(count - 1) * step, newest: newest, step: step, count: count)
    }

    @Test func firstAnswer_endsWhenItCame_andLiesBeforeThat() {
        var clock = SampleClock()
        let lost = clock.heard(ticks(40, newest: 116), at: .seconds(10))
        #expect(lost == 0)
        #expect(clock.time(of: 116) == .seconds(10))
        #expect(clock.time(of: 77) == .milliseconds(9961))
    }

    @Test func exactMeter_isFollowedExactly_acrossTheWrap() {
        var clock = SampleClock()
        _ = clock.heard(ticks(40, newest: 65_520), at: .seconds(1))
        let lost = clock.heard(ticks(40, newest: 24), at: .milliseconds(1040))
        #expect(lost == 0)
        #expect(clock.time(of: 24) == .milliseconds(1040))
        #expect(clock.time(of: 65_521) == .milliseconds(1001))
        #expect(clock.time(of: 0) == .milliseconds(1016))
    }

    /// A loop that was busy reads 30 ms late: the samples move by a sixteenth of their span at most.
    @Test func lateReader_doesNotBunchSamples() {
        var clock = SampleClock()
        _ = clock.heard(ticks(32, newest: 32), at: .seconds(1))
        _ = clock.heard(ticks(32, newest: 64), at: .milliseconds(1062))
        #expect(clock.time(of: 64) == .milliseconds(1034))
        _ = clock.heard(ticks(32, newest: 96), at: .milliseconds(1064))
        #expect(clock.time(of: 96) == .milliseconds(1064))
        #expect(clock.time(of: 64) == .milliseconds(1034))
    }

    /// A meter whose thousand milliseconds take longer or shorter than a second.
    @Test(arguments: [0.956, 0.98, 1.0, 1.02, 1.05])
    func meterThatIsFastOrSlow_staysWithin100Milliseconds_andNeverStepsBack(speed: Double) {
        var clock = SampleClock()
        var last = MonotonicTime.origin
        var tick: UInt16 = 1000
        for answer in 101...2100 {
            let now = MonotonicTime.microseconds(Double(answer) * 40_000 / speed)
            tick &+= 40
            let lost = clock.heard(ticks(40, newest: tick), at: now)
            #expect(lost == 0)
            for back in (0..<40).reversed() {
                let time = clock.time(of: tick &- UInt16(back))
                #expect(time > last)
                last = time
            }
            let difference = now - last
            #expect(difference < .milliseconds(100) && difference > .milliseconds(-100), "answer \(answer)")
        }
    }

    @Test func lostSamples_areCounted_betweenAnswersAndWithin() {
        var clock = SampleClock()
        var lost = clock.heard(SampleTicks(oldest: 0, newest: 100, step: 20, count: 4), at: .seconds(1))
        #expect(lost == 2)
        lost = clock.heard(SampleTicks(oldest: 120, newest: 140, step: 20, count: 2), at: .seconds(2))
        #expect(lost == 0)
        lost = clock.heard(SampleTicks(oldest: 180, newest: 200, step: 20, count: 2), at: .seconds(3))
        #expect(lost == 1)
        lost = clock.heard(SampleTicks(oldest: 300, newest: 340, step: 20, count: 2), at: .seconds(3))
        #expect(lost == 5)
    }

    /// The count wraps at 65,536: after half of that nobody knows how often it did.
    @Test func silence_isFollowedUpToHalfTheCount_andAnchoredAnewFromThereOn() {
        var clock = SampleClock()
        _ = clock.heard(ticks(1, newest: 0), at: .seconds(100))
        var known = clock
        let lost = known.heard(ticks(1, newest: 32_767), at: .milliseconds(132_767))
        #expect(lost == 32_766)
        #expect(known.time(of: 32_767) == .milliseconds(132_767))

        let unknown = clock.heard(ticks(2, newest: 500), at: .milliseconds(132_768))
        #expect(unknown == 0)
        #expect(clock.time(of: 500) == .milliseconds(132_768))
        #expect(clock.time(of: 499) == .milliseconds(132_767))

        // A second episode is counted as the first was.
        let again = clock.heard(ticks(1, newest: 503), at: .milliseconds(132_771))
        #expect(again == 2)
    }

    @Test func countThatStepsBack_isAnchoredAnew_andTimeDoesNot() {
        var clock = SampleClock()
        _ = clock.heard(ticks(10, newest: 5000), at: .seconds(10))
        let lost = clock.heard(ticks(30, newest: 40), at: .milliseconds(10_010))
        #expect(lost == 0)
        #expect(clock.time(of: 40) == .milliseconds(10_010))
        #expect(clock.time(of: 11) == .seconds(10))
        #expect(clock.time(of: 20) > clock.time(of: 19))
    }

    @Test func hostThatSlept_isFollowedAtOnce() {
        var clock = SampleClock()
        _ = clock.heard(ticks(10, newest: 10), at: .seconds(10))
        _ = clock.heard(ticks(10, newest: 20), at: .milliseconds(11_010))
        #expect(clock.time(of: 20) < .milliseconds(10_020))
        _ = clock.heard(ticks(10, newest: 30), at: .milliseconds(12_021))
        #expect(clock.time(of: 30) == .milliseconds(12_021))
    }

    @Test func frameWithoutAStep_doesNotTrap() {
        var clock = SampleClock()
        let lost = clock.heard(SampleTicks(oldest: 5, newest: 5, step: 0, count: 9), at: .seconds(1))
        #expect(lost == 0)
        #expect(clock.time(of: 5) == .seconds(1))
        #expect(SampleClock().time(of: 7) == .origin)
    }
}

extension MonotonicTime {
    fileprivate static func microseconds(_ count: Double) -> Self {
        Self(sinceOrigin: .microseconds(Int64(count.rounded())))
    }
}

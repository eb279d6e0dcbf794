import Domain
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
        // Thirty samples have no room in 10 ms, so that they lie a little ahead.
        #expect(clock.time(of: 11) == .milliseconds(10_001))
        #expect(clock.time(of: 40) == .milliseconds(10_030))
        #expect(clock.time(of: 20) - clock.time(of: 19) == .milliseconds(1))
    }

    /// A count that was set forward says nothing of what is missing, and one that is behind does.
    @Test func countThatWasSetForward_losesNothing_andASilenceDoes() {
        var clock = SampleClock()
        _ = clock.heard(ticks(1, newest: 100, step: 10), at: .seconds(10))
        var lost = clock.heard(ticks(1, newest: 20_100, step: 10), at: .milliseconds(10_010))
        #expect(lost == 0)
        #expect(clock.time(of: 20_100) == .milliseconds(10_010))
        lost = clock.heard(ticks(1, newest: 20_400, step: 10), at: .milliseconds(10_310))
        #expect(lost == 29)
    }

    /// A clock of milliseconds that is read about every ten of them: 8 to 12.
    @Test func unevenSteps_areNotLosses_butAMissingSampleIs() {
        var clock = SampleClock()
        var (tick, now) = (UInt16(65_000), 5000)
        for (step, expected) in [
            (10, 0), (9, 0), (11, 0), (14, 0), (6, 0), (10, 0), (20, 1), (31, 2), (26, 2), (10, 0),
        ] {
            tick &+= UInt16(step)
            now += step
            let lost = clock.heard(ticks(1, newest: tick, step: 10), at: .milliseconds(now))
            #expect(lost == expected, "a step of \(step)")
            #expect(clock.time(of: tick) == .milliseconds(now))
        }
    }

    // MARK: Frames that count for themselves

    /// Four samples, 10 ms apart.
    private let four = SampleTicks(oldest: 0, newest: 30, step: 10, count: 4, countedBy: .frame)

    private func times(_ clock: SampleClock, _ ticks: SampleTicks) -> [MonotonicTime] {
        stride(from: ticks.oldest, through: ticks.newest, by: Int(ticks.step)).map { clock.time(of: $0) }
    }

    @Test func frameByFrame_samplesAreApart_andTheNewestWasTakenWhenItCame() {
        var clock = SampleClock()
        for frame in 1...5000 {
            let now = 40 * frame
            let lost = clock.heard(four, at: .milliseconds(now))
            #expect(lost == 0)
            #expect(times(clock, four) == [-30, -20, -10, 0].map { .milliseconds(now + $0) })
        }
    }

    /// A filter may hold a sample back: the frame lacks it, and the next has one more.
    @Test func partsOfAFrame_goOnAsTheWhole() {
        var clock = SampleClock()
        _ = clock.heard(four, at: .milliseconds(40))
        let first = SampleTicks(oldest: 10, newest: 30, step: 10, count: 3, countedBy: .frame)
        _ = clock.heard(first, at: .milliseconds(70))
        #expect(times(clock, first) == [50, 60, 70].map { .milliseconds($0) })
        let late = SampleTicks(oldest: 30, newest: 30, step: 10, count: 1, countedBy: .frame)
        _ = clock.heard(late, at: .milliseconds(80))
        #expect(times(clock, late) == [.milliseconds(80)])
    }

    /// The host was busy for 200 ms, and the kernel kept what came.
    @Test func framesThatWaited_keepTheirTimes() {
        var clock = SampleClock()
        _ = clock.heard(four, at: .seconds(1))
        for frame in 1...5 {
            _ = clock.heard(four, at: .milliseconds(1200))
            let difference = clock.time(of: 30) - .milliseconds(1000 + 40 * frame)
            #expect(difference >= .zero && difference <= .milliseconds(10))
        }
    }

    /// After a pause of the meter's the count is not followed, and after a short one drawn in.
    @Test(arguments: [(251, 0, 0), (250, 250, 4000), (40, 40, 700)])
    func pause_isNoTimeOfSamples(pause: Int, lag: Int, drawnIn: Int) {
        var clock = SampleClock()
        _ = clock.heard(four, at: .seconds(1))
        var now = 1000 + 40 + pause
        _ = clock.heard(four, at: .milliseconds(now))
        #expect(.milliseconds(now) - clock.time(of: 30) <= .milliseconds(lag))
        #expect(.milliseconds(now) - clock.time(of: 30) >= .milliseconds(max(0, lag - 3)))
        for _ in 0..<(drawnIn / 40) {
            now += 40
            _ = clock.heard(four, at: .milliseconds(now))
        }
        #expect(clock.time(of: 30) == .milliseconds(now))
    }

    /// Any mixture of late frames, bursts, pauses and clocks that are set: times always rise, none is far from when it came, and
    /// what is on time again is told right.
    @Test(arguments: [SampleTicks.Count.meter, .frame], 0..<40)
    func walk_alwaysRises_andComesBack(countedBy: SampleTicks.Count, seed: Int) {
        var rng = SplitMix64(seed: UInt64(seed))
        var clock = SampleClock()
        var (last, now, tick) = (MonotonicTime.origin, 100_000, UInt16(truncatingIfNeeded: seed &* 9973))
        func come(after step: Int) {
            now += step
            var frame = four
            frame.countedBy = countedBy
            if countedBy == .meter {
                frame.oldest = tick &+ 10
                frame.newest = tick &+ 40
                tick &+= 40
            }
            _ = clock.heard(frame, at: .milliseconds(now))
            for time in times(clock, frame) {
                #expect(time > last, "seed \(seed)")
                last = time
            }
            #expect(last < .milliseconds(now + 2500), "seed \(seed)")
        }
        for _ in 0..<2000 {
            switch Int.random(in: 0..<100, using: &rng) {
            case 0..<60: come(after: 40)
            case 60..<80: come(after: Int.random(in: 0...80, using: &rng))
            case 80..<90:
                come(after: Int.random(in: 40...400, using: &rng))
                for _ in 0..<4 { come(after: 0) }
            case 90..<95: come(after: Int.random(in: 100...40_000, using: &rng))
            default: tick = UInt16.random(in: 0...UInt16.max, using: &rng)
            }
        }
        for _ in 0..<1200 { come(after: 40) }
        #expect(last == .milliseconds(now), "seed \(seed)")
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

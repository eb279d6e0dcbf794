import Testing

@testable import Domain

/// Against a list that keeps everything: the change since the oldest value that is at most a window old, of those kept.
struct RateWindowTests {
    /// Values come so many times in a sixteenth of the window; the first of each sixteenth is kept.
    @Test(arguments: [AlertRate.Per.second, .minute, .hour], [1, 4])
    func slope_isFromTheOldestValueInTheWindow(per: AlertRate.Per, often: Int) {
        let length = AlertRate(1, per: per).window
        var window = RateWindow(length)
        var rng = SplitMix64(seed: 7)
        let values = (0..<200).map { _ in Double(rng.next() % 1000) }
        for (place, value) in values.enumerated() {
            let slope = window.add(value, at: .origin + length * place / (16 * often), gapMax: length / 16)
            let oldest = max(0, (place - 16 * often + often - 1) / often * often)
            guard place - oldest >= 8 * often else {
                #expect(slope == nil, "place \(place)")
                continue
            }
            let seconds = Double((length * (place - oldest) / (16 * often)).milliseconds) / 1000
            let expected = (value - values[oldest]) / seconds
            #expect(slope.map { abs($0 - expected) < 1e-9 * max(1, abs(expected)) } == true, "place \(place)")
        }
    }

    /// A silence exactly as long as allowed is none, and two values of one moment are no step back.
    @Test func gap_isLongerThanAllowed_andTimeThatGoesBackIsOne() {
        for (silence, isKept) in [(Duration.seconds(6), true), (.milliseconds(6001), false)] {
            var window = RateWindow(.seconds(10))
            for second in 0...8 { _ = window.add(0, at: .at(Double(second)), gapMax: .seconds(6)) }
            let slope = window.add(8, at: .at(8) + silence, gapMax: .seconds(6))
            #expect((slope != nil) == isKept)
        }
        for (back, isKept) in [(0, true), (1, false)] {
            var window = RateWindow(.seconds(10))
            for second in 0...8 { _ = window.add(0, at: .at(Double(second)), gapMax: .seconds(6)) }
            _ = window.add(0, at: .at(8) + .milliseconds(-back), gapMax: .seconds(6))
            #expect((window.add(9, at: .at(9), gapMax: .seconds(6)) != nil) == isKept)
        }
    }

    /// It begins anew after a gap, as if it were new, as often as there is one.
    @Test func window_isAsNew_afterEachGap() {
        var window = RateWindow(.seconds(10))
        for round in 0..<4 {
            var fresh = RateWindow(.seconds(10))
            for step in 0..<(13 + round) {
                let time = MonotonicTime.at(Double(100 * round + step))
                let value = Double(step * step)
                let (one, other) = (
                    window.add(value, at: time, gapMax: .seconds(6)), fresh.add(value, at: time, gapMax: .seconds(6))
                )
                #expect(one == other, "round \(round), step \(step)")
                #expect((one == nil) == (step < 5))
            }
        }
    }
}

import CoreTestKit
import Domain
import Testing

struct MeasuredStretchTests {
    /// Readings every half second from 0 on, current in A at 5 V; nil for a reading without it, nothing between the ends of a
    /// `gap`.
    private static func stretch(
        of currents: [Double?], for limits: [Limit], gap: Range<Int> = 0..<0, every step: Int64 = 500
    ) -> MeasuredStretch {
        var stretch = MeasuredStretch(for: limits)
        for (index, current) in currents.enumerated() where !gap.contains(index) {
            var reading = Reading()
            reading[.voltage] = 5
            reading[.current] = current
            reading[.power] = current.map { $0 * 5 }
            stretch.add(reading, at: Int64(index) * step)
        }
        return stretch
    }

    private static func judge(
        _ text: String, of currents: [Double?], gap: Range<Int> = 0..<0, allowed: Double = 0,
        _ change: (inout MeasuredStretch) -> Void = { _ in }
    ) throws -> LimitVerdict {
        let limit = try LimitParser.limit(text)
        var stretch = stretch(of: currents, for: [limit], gap: gap)
        change(&stretch)
        return try #require(stretch.judge([limit], allowedGaps: allowed).first)
    }

    private static let step: [Double?] = Array(repeating: 1, count: 10) + Array(repeating: 3, count: 11)

    @Test(arguments: [
        ("mean(current) < 2.1 A", 2.05), ("min(current) >= 1 A", 1), ("max(current) <= 3 A", 3),
        ("peak-to-peak(current) <= 2 A", 2), ("median(current) >= 3 A", 3), ("p10(current) <= 1 A", 1),
        ("stddev(current) < 1 A", 0.998_866), ("energy < 0.0285 Wh", 0.028_472), ("charge > 5.6 mAh", 5.694_444),
        ("duration <= 10 s", 10), ("count > 20", 21), ("current > 2 A for 50 %", 50), ("voltage >= 5 V for 100 %", 100),
    ])
    func limit_isKept_atItsValue(text: String, value: Double) throws {
        let verdict = try Self.judge(text, of: Self.step)

        #expect(verdict.kind == .kept)
        #expect(abs((verdict.value ?? .nan) - value) < 1e-6)
    }

    @Test(arguments: [
        "mean(current) < 2 A", "min(current) > 1 A", "max(current) < 3 A", "peak-to-peak(current) < 2 A",
        "energy < 0.02 Wh", "duration < 10 s", "count > 21", "current > 2 A for 50.1 %",
    ])
    func limit_isBroken(text: String) throws { #expect(try Self.judge(text, of: Self.step).kind == .broken) }

    /// More readings can raise a mean, but not lower a count.
    @Test func gap_leavesUndecided_onlyWhatCanChange() throws {
        #expect(try Self.judge("count > 5", of: Self.step, gap: 6..<13) == LimitVerdict(.kept, value: 14))
        #expect(
            try Self.judge("mean(current) > 9 A", of: Self.step, gap: 6..<13).kind
                == .undecided(reason: "nothing was measured for 4.0 of 10.0 s"))
    }

    /// What was not measured is not judged, but what was seen beyond a limit stays there.
    @Test(arguments: [
        ("mean(current) < 9 A", "nothing was measured for 4.0 of 10.0 s"),
        ("max(current) < 9 A", "nothing was measured for 4.0 of 10.0 s"), ("max(current) < 2 A", nil),
        ("min(current) > 2 A", nil), ("energy < 1 mWh", nil), ("charge < 1 mAh", nil), ("count < 9", nil),
        ("duration < 9 s", nil),
        ("count < 30", "nothing was measured for 4.0 of 10.0 s"),
        ("peak-to-peak(current) < 1 A", nil),
    ])
    func gap_leavesUndecided(text: String, reason: String?) throws {
        let verdict = try Self.judge(text, of: Self.step, gap: 6..<13)

        #expect(verdict.kind == reason.map { .undecided(reason: $0) } ?? .broken)
        let allowed = try Self.judge(text, of: Self.step, gap: 6..<13, allowed: 0.4)
        #expect(allowed.kind == (reason == nil ? .broken : .kept))
    }

    @Test func edges_areGaps_whereNothingWasMeasured() throws {
        let late = try Self.judge("max(current) < 9 A", of: Self.step) { $0.start = -3000 }
        let early = try Self.judge("max(current) < 9 A", of: Self.step) { $0.end = 13_000 }
        let near = try Self.judge("max(current) < 9 A", of: Self.step) { ($0.start, $0.end) = (-2000, 12_000) }

        #expect(
            [late.kind, early.kind]
                == Array(repeating: .undecided(reason: "nothing was measured for 3.0 of 13.0 s"), count: 2))
        #expect(near.kind == .kept)
    }

    /// `pause` is the time in milliseconds before the last reading; the others are `step` apart.
    @Test(arguments: [
        // Ten steps show what is usual; nine do not, and a second counts.
        (step: 2000, pause: 10_000, readings: 11, resolution: 0, isGap: false), (2000, 10_001, 11, 0, true),
        (2000, 2000, 11, 0, false), (2000, 2000, 10, 0, true), (1000, 1000, 10, 0, false),
        // At least a second, at most a minute.
        (10, 1000, 30, 0, false), (10, 1001, 30, 0, true), (15_000, 60_000, 30, 0, false),
        (15_000, 60_001, 30, 0, true),
        // Five stored means.
        (1000, 5000, 5, 1000, false), (1000, 5001, 5, 1000, true), (200, 5000, 30, 1000, false),
        (200, 5001, 30, 1000, true),
    ])
    func pause_isGap_fromFiveUsualSteps(step: Int64, pause: Int64, readings: Int64, resolution: Int64, isGap: Bool) {
        func stretch(_ change: (inout MeasuredStretch) -> Void) -> MeasuredStretch {
            var stretch = MeasuredStretch(for: [])
            stretch.resolution = resolution
            for index in 0..<(readings - 1) { stretch.add(Reading(), at: index * step) }
            change(&stretch)
            return stretch
        }
        let last = (readings - 2) * step
        let between = stretch { $0.add(Reading(), at: last + pause) }
        let after = stretch {
            $0.add(Reading(), at: last + step)
            $0.end = last + step + pause
        }

        #expect(between.gaps >= (isGap ? pause : 0) && (between.gaps > 0) == isGap)
        #expect((after.gaps > 0) == isGap || step == pause)
    }

    @Test func stretch_countsWhatItCannotHold() throws {
        var stretch = MeasuredStretch(for: [], capacity: 3)
        #expect(stretch.length == 0)
        for time: Int64 in [5, 5, 7, 8] { stretch.add(Reading(), at: time) }

        #expect((stretch.count, stretch.lost, stretch.isFull, stretch.length) == (3, 1, true, 2))
    }

    /// A few readings that are far apart are not a slow meter, and a gap does not make itself usual.
    @Test(arguments: [[0, 1, 7200], [0, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200]])
    func gaps_doNotHideThemselves(places: [Int64]) throws {
        let verdict = try Self.judge("max(current) < 9 A", of: []) { stretch in
            var reading = Reading()
            reading[.current] = 1
            for place in places { stretch.add(reading, at: place * 500) }
        }
        guard case .undecided = verdict.kind else { return #expect(Bool(false), "\(verdict)") }
    }

    /// Means of minutes are a minute apart, also where there are few of them.
    @Test(arguments: [4, 40]) func means_areNoGaps(count: Int) throws {
        let verdict = try Self.judge("mean(current) < 9 A", of: []) { stretch in
            stretch.resolution = 60_000
            var reading = Reading()
            reading[.current] = 1
            for index in 0..<count { stretch.add(reading, at: Int64(index) * 250_000) }
        }
        #expect(verdict == LimitVerdict(.kept, value: 1))
    }

    /// The first and the last value hold to the ends; what may be missing counts with the mean.
    @Test func sums_areOfTheWholeStretch() throws {
        let flat = [Double?](repeating: 1, count: 21)
        let ends = try Self.judge("charge < 9 Ah", of: flat) { ($0.start, $0.end) = (-900, 10_900) }
        let gap = try Self.judge("charge < 9 Ah", of: flat, gap: 6..<13, allowed: 0.5)

        let late = try Self.judge("charge < 9 Ah", of: flat, allowed: 0.5) { $0.start = -3000 }
        let early = try Self.judge("charge < 9 Ah", of: flat, allowed: 0.5) { $0.end = 13_000 }
        let mean = try Self.judge("mean(current) < 9 A", of: Self.step) { ($0.start, $0.end) = (-1000, 11_000) }

        let values = [ends, gap, late, early, mean].map { $0.value ?? .nan }
        #expect(
            zip(values, [11.8 / 3.6, 10 / 3.6, 13 / 3.6, 13 / 3.6, 24.5 / 12]).allSatisfy { abs($0 - $1) < 1e-9 },
            "\(values)")
    }

    @Test func lostReadings_andMeans_leaveUndecided() throws {
        func kind(_ text: String, _ change: (inout MeasuredStretch) -> Void) throws -> LimitVerdict.Kind {
            try Self.judge(text, of: Self.step, change).kind
        }
        #expect(try kind("mean(current) < 9 A") { $0.lose(2) } == .undecided(reason: "2 of 23 readings were lost"))
        #expect(
            try Self.judge("mean(current) < 9 A", of: Self.step, allowed: 0.1) { $0.lose(2) }.kind == .kept)
        // A clock that was set back.
        #expect(
            try kind("mean(current) < 9 A") { $0.add(Reading(), at: 9) }
                == .undecided(reason: "1 of 22 readings were lost"))
        for text in ["p90(current) < 9 A", "stddev(current) < 9 A", "max(current) < 9 A", "current < 9 A for 9 %"] {
            #expect(try kind(text) { $0.resolution = 60_000 } == .undecided(reason: "only means of 1m are left"))
        }
        #expect(try kind("mean(current) < 9 A") { $0.resolution = 60_000 } == .kept)
        #expect(try kind("max(current) < 2 A") { $0.resolution = 60_000 } == .broken)
        #expect(try kind("count < 9") { $0.resolution = 60_000 } == .broken)
        for (text, value) in [("min(current) > 0 A", 0.25), ("max(current) < 9 A", 4), ("p2p(current) < 9 A", 3.75)] {
            let verdict = try Self.judge(text, of: Self.step) {
                $0.resolution = 1000
                for extremes in [0.5...3.5, 0.25...4, 1...2] { $0.addExtremes(extremes, of: .current) }
            }
            #expect(verdict == LimitVerdict(.kept, value: value))
        }
        // Extremes are kept with the means. A current that flows back counts by its size.
        #expect(
            try kind("max(current) < 9 A") {
                $0.resolution = 1000
                $0.addExtremes(-10...3, of: .current)
            } == .broken)
        for text in ["min(current) > 1 mA", "mean(current) < 9 A", "charge < 9 Ah", "count < 99"] {
            #expect(
                try kind(text) {
                    $0.resolution = 1000
                    $0.addExtremes(-10...3, of: .current)
                } == .undecided(reason: "only means of 1s are left"), "\(text)")
        }
        // What is seen of the sizes of a current that turned goes down to nothing, and otherwise to its smaller end.
        let turned: [(ClosedRange<Double>, ClosedRange<Double>)] = [
            (-10...3, 0...10), (-3...10, 0...10), (-10...0, 0...10), (-10 ... -0.5, 0.5...10),
        ]
        for (extremes, sizes) in turned {
            for (text, size) in [
                ("min(current) > 1 mA", sizes.lowerBound), ("max(current) < 9 A", sizes.upperBound),
                ("peak-to-peak(current) < 9 A", sizes.upperBound - sizes.lowerBound),
            ] {
                let value = try Self.judge(text, of: Self.step) { $0.addExtremes(extremes, of: .current) }.value
                #expect(value == size, "\(text), \(extremes)")
            }
        }
    }

    @Test(arguments: [
        ("p99(current) < 9 A", "21 readings are too few: it takes 100"),
        ("mean(d+) < 9 V", "no reading has a dp"),
    ])
    func tooFewReadings_areSaid(text: String, reason: String) throws {
        #expect(try Self.judge(text, of: Self.step) == Self.undecided(reason))
        for text in [text, "count < 9", "duration < 9 s"] {
            #expect(try Self.judge(text, of: []) == Self.undecided("nothing was measured"))
        }
        for text in ["mean(current) < 9 A", "stddev(current) < 9 A"] {
            let verdict = try Self.judge(text, of: [1]) { ($0.start, $0.end) = (-500, 500) }
            #expect(verdict == Self.undecided("1 reading is too few"))
        }
    }

    private static func undecided(_ reason: String) -> LimitVerdict {
        LimitVerdict(.undecided(reason: reason), value: nil)
    }

    @Test func twoReadings_areEnoughForADeviation() throws {
        #expect(try Self.judge("stddev(current) <= 1 A", of: [1, 3]) == LimitVerdict(.kept, value: 1))
        #expect(try Self.judge("median(current) <= 2 A", of: [1, 3]) == LimitVerdict(.kept, value: 2))
    }

    @Test func readingsAMillisecondApart_count() throws {
        let limits = try [LimitParser.limit("mean(current) < 9 A"), LimitParser.limit("current > 1 A for 50 %")]
        let verdicts = Self.stretch(of: [1, 3, 5], for: limits, every: 1).judge(limits, allowedGaps: 0)
        #expect(verdicts == [LimitVerdict(.kept, value: 3), LimitVerdict(.kept, value: 50)])
    }

    /// A reading without the quantity is a gap of that quantity alone.
    @Test func missingValues_areGaps() throws {
        var currents = Self.step
        for index in 6..<13 { currents[index] = nil }
        #expect(try Self.judge("mean(current) < 9 A", of: currents).kind != .kept)
        #expect(try Self.judge("mean(voltage) < 9 V", of: currents).kind == .kept)
    }

    /// Against sums written down in another way, with limits just on either side of the value.
    @Test func values_areThoseOfPlainSums() throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var rng = SeededRNG(seed: seed)
        for _ in 0..<50 {
            let values = (0..<Int.random(in: 100...400, using: &rng)).map { _ in
                Double.random(in: 0.001...4, using: &rng)
            }
            let sorted = values.sorted()
            let pairs = zip(values, values.dropFirst())
            let mean = pairs.map { ($0 + $1) / 2 }.reduce(0, +) / Double(values.count - 1)
            let average = values.reduce(0, +) / Double(values.count)
            let square = values.map { ($0 - average) * ($0 - average) }.reduce(0, +) / Double(values.count)
            // 99 readings apart in hundredths where there are 100 steps.
            let place = 0.9 * Double(values.count - 1)
            let below = sorted[Int(place)]
            let p90 = below + (place - place.rounded(.down)) * (sorted[min(Int(place) + 1, values.count - 1)] - below)
            let expected = [
                "mean(current)": mean, "max(current)": sorted[values.count - 1], "min(current)": sorted[0],
                "p90(current)": p90, "stddev(current)": square.squareRoot(),
            ]
            for (name, value) in expected {
                for (sign, offset) in [("<", 1e-6), (">", -1e-6)] {
                    let kept = try Self.judge("\(name) \(sign) \(value + offset) A", of: values)
                    let broken = try Self.judge("\(name) \(sign) \(value - offset) A", of: values)
                    #expect([kept.kind, broken.kind] == [.kept, .broken], "seed \(seed), \(name), \(value)")
                }
            }
        }
    }
}

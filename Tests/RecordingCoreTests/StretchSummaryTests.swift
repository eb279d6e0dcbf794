import Domain
import Testing

struct StretchSummaryTests {
    private func summary(_ readings: [TimedReading], name: String? = nil) -> StretchSummary {
        var summary = StretchSummary(host: .here, meter: .bench, name: name)
        for reading in readings { summary.add(reading.wallTime, reading.reading) }
        return summary
    }

    @Test func nothing_isNoRecording() {
        let summary = StretchSummary(host: .here, meter: .bench)

        #expect(summary.recording() == nil)
        #expect(summary.spreads.isEmpty)
        #expect(summary.readings == 0)
    }

    /// The law: whoever had recorded the time would have the same sums.
    @Test(arguments: 1...20) func sums_areThoseOfARecordingOfThatTime(seed: UInt64) throws {
        var rng = SplitMix64(seed: seed)
        var (readings, second) = ([TimedReading](), 0.0)
        for _ in 0..<Int.random(in: 1...200, using: &rng) {
            readings.append(
                .at(
                    second, Double.random(in: -2...3, using: &rng), volts: Double.random(in: 4...21, using: &rng),
                    charge: second, energy: second / 200))
            // Some longer than what is integrated.
            second += [0.5, 1, 3, 10, 10.001, 400].randomElement(using: &rng) ?? 1
        }
        var machine = RecordingMachine()
        machine.start(at: 0, name: "then")
        for reading in readings { _ = machine.received(reading) }
        let last = try #require(readings.last)
        let recorded = try #require(machine.stop(at: last.wallTime, last.time).ended)

        let summary = summary(readings, name: "then")
        let found = try #require(summary.recording())

        #expect(found == recorded, "seed \(seed)")
        for (quantity, track) in [(Quantity.voltage, recorded.totals.voltage), (.current, recorded.totals.current)] {
            let spread = try #require(summary.spreads[quantity])
            #expect((spread.mean - (track.mean ?? .nan)).magnitude < 1e-9, "seed \(seed), \(quantity)")
            #expect(spread.least == track.least && spread.greatest == track.greatest, "seed \(seed), \(quantity)")
        }
    }

    /// A run of a reading a millisecond, a gap, and another; then what only a mean is left of.
    @Test(arguments: [(10_000, 0), (2001, 2), (1999, 2), (100, 32)])
    func energySamples_areAsManyAsAllowed_andAddUpToTheStretch(samplesMax: Int, spacing: Int64) throws {
        var rng = SplitMix64(seed: 1)
        var summary = StretchSummary(host: .here, meter: .bench)
        var samples = EnergySamples(samplesMax: samplesMax)
        func add(_ reading: TimedReading, length: Int64 = 0) throws {
            if length == 0 {
                summary.add(reading.wallTime, reading.reading)
            } else {
                let mean = reading.reading
                summary.add(reading.wallTime, length: length, means: mean, minima: mean, maxima: mean, count: nil)
            }
            let energy = try #require(summary.energy)
            samples.add(energy.time, wattHours: energy.wattHours, seconds: energy.seconds)
        }
        for number in Array(0..<1000) + Array(20_000..<21_000) {
            try add(.at(Double(number) / 1000, Double.random(in: -2...3, using: &rng), volts: 5))
        }
        for second in 40...41 { try add(.at(Double(second), 1, volts: 5), length: 1000) }

        let all = samples.samples
        #expect(samples.spacing == spacing)
        #expect(all.count <= samplesMax)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.time < $1.time })
        let runs = all.filter(\.beginsRun)
        let start = WallTime.start.millisecondsSince1970
        #expect(runs.map { $0.time - start } == [0, 20_000, 40_000])
        #expect(runs.allSatisfy { $0.energy == 0 })
        let energy = try #require(summary.recording()?.totals.energy_Wh)
        #expect((Double(all.reduce(0) { $0 + $1.energy }) - energy * 1e12).magnitude <= 0.5)
        #expect(all.last.map { $0.time - start } == 41_999)
    }

    @Test func mean_isOverTime_quantilesAreOfReadings() throws {
        var readings = (0..<19).map { TimedReading.at(Double($0) / 10, 1) }
        readings.append(.at(11.7, 2))
        let spread = try #require(summary(readings).spreads[.current])

        #expect(spread.p50 == 1)
        #expect(spread.p95 == 1)
        #expect(spread.greatest == 2)
        #expect((spread.mean - (1.8 * 1 + 9.9 * 1.5) / 11.7).magnitude < 1e-9)
    }

    @Test func minuteOfWhichOnlyAMeanIsLeft_countsForAMinute_withItsExtremes() throws {
        var summary = StretchSummary(host: .here, meter: .bench)
        for minute in 0..<60 {
            var (mean, least, greatest) = (Reading(), Reading(), Reading())
            mean[.voltage] = 5
            mean[.current] = 2
            least[.voltage] = 4.5
            greatest[.voltage] = 5.5
            summary.add(
                .start + .seconds(60 * minute), length: 60_000, means: mean, minima: least, maxima: greatest, count: 120
            )
        }
        let totals = try #require(summary.recording()).totals

        #expect(summary.readings == 7200)
        #expect(totals.readings == 7200)
        #expect(totals.gapCount == 0)
        #expect(((totals.charge_mAh ?? 0) - 2000).magnitude < 1)
        #expect(((totals.energy_Wh ?? 0) - 10).magnitude < 0.01)
        #expect(totals.voltage.least == 4.5)
        #expect(totals.voltage.greatest == 5.5)
        #expect(totals.current.greatest == 2)
        #expect(summary.resolution == .seconds(60))
        #expect(summary.spreads[.voltage]?.least == 4.5)
    }

    /// The extremes of each quantity are those that were kept, whichever of the two goes beyond the means.
    @Test(arguments: [Quantity.voltage, .current, .power, .temperature], [(0.0, 0.0), (0.5, 0), (0, 0.5), (0.5, 0.5)])
    func extremesBeyondTheMeans_areThoseOfTheRecording(_ quantity: Quantity, _ beyond: (Double, Double)) throws {
        var summary = StretchSummary(host: .here, meter: .bench)
        for minute in 0..<3 {
            var (mean, least, greatest) = (Reading(), Reading(), Reading())
            (mean[.voltage], mean[.current], mean[.power], mean[.temperature]) = (5, 2, 10, 25)
            for kept in [Quantity.voltage, .current, .power, .temperature] {
                (least[kept], greatest[kept]) = (mean[kept], mean[kept])
            }
            if minute == 1, let value = mean[quantity] {
                (least[quantity], greatest[quantity]) = (value - beyond.0, value + beyond.1)
            }
            summary.add(
                .start + .seconds(60 * minute), length: 60_000, means: mean, minima: least, maxima: greatest, count: 9)
        }
        let totals = try #require(summary.recording()).totals
        for (kept, value, track) in [
            (Quantity.voltage, 5.0, totals.voltage), (.current, 2, totals.current), (.power, 10, totals.power),
            (.temperature, 25, totals.temperature),
        ] {
            let (low, high) = kept == quantity ? beyond : (0, 0)
            #expect(track.least == value - low, "\(kept)")
            #expect(track.greatest == value + high, "\(kept)")
            #expect(((track.mean ?? 0) - value).magnitude < 1e-9, "\(kept)")
            #expect(summary.spreads[kept]?.least == value - low, "\(kept)")
            #expect(summary.spreads[kept]?.greatest == value + high, "\(kept)")
        }
    }

    /// A length is one stretch up to 65 times what may lie between two readings, and its last millisecond.
    @Test(arguments: [(1, 0), (10_000, 0), (640_000, 0), (650_001, 0), (650_002, 1), (6_400_000, 1)] as [(Int64, Int)])
    func lengthThatIsTooLong_isAGapInPart(_ length: Int64, _ gaps: Int) throws {
        var summary = StretchSummary(host: .here, meter: .bench)
        var mean = Reading()
        (mean[.voltage], mean[.current]) = (5, 2)
        summary.add(.start, length: length, means: mean, minima: mean, maxima: mean, count: nil)
        let totals = try #require(summary.recording()).totals
        #expect(totals.gapCount == gaps)
        #expect(summary.readings == 1)
        #expect(summary.resolution == .milliseconds(length))
    }

    /// A mean counts as often as there were measurements, and once where that is not known.
    @Test(arguments: [(9, nil, 10, 1, 2.0), (11, nil, 10, 1, 1), (9, 0, 10, 1, 2), (6, 2, 10, 1, 1), (4, 2, 10, 1, 2)])
    func quantiles_weighAMean_byItsMeasurements(
        _ ones: Int, _ countOfOnes: Int?, _ twos: Int, _ countOfTwos: Int?, _ median: Double
    ) {
        var summary = StretchSummary(host: .here, meter: .bench)
        for number in 0..<ones + twos {
            var mean = Reading()
            mean[.voltage] = number < ones ? 1 : 2
            summary.add(
                .start + .seconds(60 * number), length: 60_000, means: mean, minima: mean, maxima: mean,
                count: number < ones ? countOfOnes : countOfTwos)
        }
        #expect(summary.spreads[.voltage]?.p50 == median)
        #expect(summary.readings == ones * max(1, countOfOnes ?? 1) + twos)
    }

    /// An hour of silence between two of them is a gap, not an hour of current.
    @Test func silenceBetweenMinutes_isAGap() throws {
        var summary = StretchSummary(host: .here, meter: .bench)
        var mean = Reading()
        mean[.current] = 1
        for minute in [0, 1, 61] {
            summary.add(
                .start + .seconds(60 * minute), length: 60_000, means: mean, minima: mean, maxima: mean, count: nil)
        }
        let totals = try #require(summary.recording()).totals

        #expect(totals.gapCount == 1)
        #expect((totals.gapTime - .seconds(3540)).milliseconds.magnitude < 100)
        #expect(((totals.charge_mAh ?? 0) - 50).magnitude < 0.1)
    }

    /// Of a year there are points of some 50 minutes, of which each has readings.
    @Test func lengths_thatAreKnownBefore_areNoGaps_howeverLong() throws {
        let length = Duration.seconds(3154)
        var summary = StretchSummary(host: .here, meter: .bench, length: length)
        var mean = Reading()
        mean[.current] = 1
        for number in 0..<100 {
            summary.add(
                .start + length * number, length: length.milliseconds, means: mean, minima: mean, maxima: mean,
                count: nil)
        }
        let totals = try #require(summary.recording()).totals

        #expect(totals.gapCount == 0)
        #expect(((totals.charge_mAh ?? 0) - 315_400 / 3.6).magnitude < 1)
    }

    @Test(arguments: [Int64.min, -1, 0, .max]) func strangestTimes_doNotTrap(milliseconds: Int64) {
        var summary = StretchSummary(host: .here, meter: .bench)
        var reading = Reading()
        reading[.voltage] = 5
        for time in [milliseconds, .min, .max, milliseconds].map(WallTime.init(millisecondsSince1970:)) {
            summary.add(time, reading)
            summary.add(time, length: .max, means: reading, minima: reading, maxima: reading, count: .max / 4)
        }

        #expect(summary.recording() != nil)
    }
}

import CoreTestKit
import Domain
import Testing

struct SeriesBuilderTests {
    private static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private func reading(_ values: [Quantity: Double?]) -> Reading {
        var reading = Reading()
        for (quantity, value) in values { reading[quantity] = value }
        return reading
    }

    private func builder(
        _ length: Duration, points: Int, _ quantities: [Quantity] = [.voltage], from start: WallTime = start
    ) -> SeriesBuilder {
        SeriesBuilder(span: start..<start + length, points: points, quantities: quantities)
    }

    // MARK: - What fits

    private static let choices: [(hours: Int, points: Int, tier: SampleTier?)] = [
        (1, 1000, nil), (5, 1000, nil), (6, 1000, .minute), (30 * 24, 1000, .minute), (41 * 24, 1000, .minute),
        (42 * 24, 1000, .hour), (366 * 24, 1000, .hour), (30 * 24, 300, .hour), (1, 1, .hour),
    ]

    @Test(arguments: choices)
    func tier_isTheCoarsestThatIsFineEnough(_ hours: Int, _ points: Int, _ tier: SampleTier?) {
        let builder = builder(.seconds(3600 * hours), points: points)

        #expect(builder.tier == tier)
        #expect(builder.pointCount <= points + 1)
        if let tier { #expect(builder.width.isMultiple(of: tier.rawValue)) }
    }

    /// Whatever is requested: never more than one point above that number, none outside the span, and no trap.
    @Test func anySpan_hasItsPoints() {
        for seed in UInt64(0)..<500 {
            var rng = SeededRNG(seed: seed)
            let from = Int64(bitPattern: rng.next()) >> Int64(rng.next() % 40)
            let length = Int64(clamping: rng.next() >> (rng.next() % 63))
            let to = from.addingReportingOverflow(length)
            let points = Int(rng.next() % 3000)
            let span =
                WallTime(
                    millisecondsSince1970: from)..<WallTime(millisecondsSince1970: to.overflow ? .max : to.partialValue)

            var builder = SeriesBuilder(span: span, points: points, quantities: [.voltage])
            for _ in 0..<50 {
                let time = from &+ Int64(clamping: rng.next() % UInt64(max(1, length)))
                builder.add(WallTime(millisecondsSince1970: time), reading([.voltage: 1]))
            }

            #expect(builder.pointCount <= max(1, points) + 1, "seed \(seed)")
            #expect(builder.origin <= builder.end, "seed \(seed)")
            _ = builder.finish()
        }
    }

    @Test func nothing_isASeriesWithoutPoints() {
        #expect(builder(.zero, points: 10).finish().times.isEmpty)
        #expect(builder(.seconds(60), points: 10).finish().columns.isEmpty)
    }

    // MARK: - Peaks

    /// The extremes of the whole are those of the points, and each point's are those of its contents, whatever the
    /// number of points, the order, and whether some of it comes in buckets.
    @Test func downSampling_keepsEveryPeak() {
        for seed in UInt64(0)..<200 {
            var rng = SeededRNG(seed: seed)
            let length = Int64(60_000) << Int64(rng.next() % 12)
            let points = 1 + Int(rng.next() % 400)
            var series = builder(.milliseconds(length), points: points)
            var least: [Int64: Double] = [:]
            var greatest: [Int64: Double] = [:]
            var minutes: [Int64: SampleBucket] = [:]
            for _ in 0..<2000 {
                let time = Self.start + .milliseconds(Int64(rng.next() % UInt64(length)))
                let value = Double(Int64(rng.next() % 200_000) - 100_000) / 1000
                let point = (time.millisecondsSince1970 - series.origin.millisecondsSince1970) / series.width
                least[point] = min(least[point] ?? value, value)
                greatest[point] = max(greatest[point] ?? value, value)
                if let tier = series.tier, rng.next() % 2 == 0 {
                    let start = tier.bucket(of: time)
                    minutes[start.millisecondsSince1970, default: SampleBucket(start: start)].add(
                        reading([.voltage: value]))
                } else {
                    series.add(time, reading([.voltage: value]))
                }
            }
            for bucket in minutes.values { series.add(bucket) }

            let found = series.finish()

            let column = found.columns[0]
            #expect(column.minima.compactMap(\.self) == least.sorted { $0.key < $1.key }.map(\.value), "seed \(seed)")
            #expect(
                column.maxima.compactMap(\.self) == greatest.sorted { $0.key < $1.key }.map(\.value), "seed \(seed)")
            #expect(zip(found.times, found.times.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
            for (least, mean) in zip(column.minima, column.means) {
                if let least, let mean { #expect(least <= mean, "seed \(seed)") }
            }
        }
    }

    @Test func mean_isOfAllReadings() {
        var series = builder(.seconds(10), points: 1)
        for value in [1.0, 2, 6] { series.add(Self.start, reading([.voltage: value])) }

        #expect(series.finish().columns[0].means == [3])
    }

    @Test func quantity_isAbsent_whereItHasNoValue() {
        var series = builder(.seconds(10), points: 10, [.voltage, .current, .power])
        series.add(Self.start, reading([.voltage: 5, .current: nil]))
        series.add(Self.start + .seconds(3), reading([.power: 2]))

        let found = series.finish()

        #expect(found.columns.map(\.quantity) == [.voltage, .power])
        #expect(found.columns.map(\.minima) == [[5, nil], [nil, 2]])
    }

    // MARK: - Gaps

    @Test func line_breaks_whereNothingCameForLong() {
        var series = builder(.seconds(100), points: 100)
        for second in Array(0...20) + Array(60...70) {
            series.add(Self.start + .seconds(second), reading([.voltage: 5]))
        }

        let found = series.finish()

        #expect(found.gap == .seconds(10))
        #expect(found.columns[0].minima.filter { $0 == nil }.count == 1)
        let gap = found.columns[0].minima.firstIndex { $0 == nil }
        #expect(gap == 21)
        #expect(found.times[21] > found.times[20] && found.times[21] < found.times[22])
    }

    /// What a recording marks as a gap breaks the line too, and nothing else does.
    @Test(arguments: [(10, 0), (11, 1)])
    func line_breaks_asARecordingWould(_ silence: Int, _ gaps: Int) {
        var series = builder(.seconds(100), points: 100)
        for second in Array(0...20) + Array((20 + silence)...50) {
            series.add(Self.start + .seconds(second), reading([.voltage: 5]))
        }

        #expect(series.finish().columns[0].minima.count { $0 == nil } == gaps)
    }

    /// A live view calls the meter silent after `staleAfter`, so the line ends there too; unless the span is of a time
    /// when the meter was read more slowly. `step` and `silence` are in tenths of a second.
    @Test(arguments: [(5, 30, 0), (5, 31, 1), (5, 80, 1), (20, 40, 0), (20, 60, 1)])
    func line_breaks_whereTheMeterWasSilent(_ step: Int, _ silence: Int, _ gaps: Int) {
        var series = SeriesBuilder(
            span: Self.start..<Self.start + .seconds(60), points: 1000, quantities: [.voltage],
            staleAfter: .seconds(3))
        let before = stride(from: 0, through: 200, by: step)
        for tenth in Array(before) + Array(stride(from: 200 + silence, to: 600, by: step)) {
            series.add(Self.start + .milliseconds(100 * tenth), reading([.voltage: 5]))
        }

        #expect(series.finish().columns[0].minima.count { $0 == nil } == gaps)
    }

    @Test func meterThatWasReadMoreSlowlyForAPart_hasNoGapsThere() {
        var series = SeriesBuilder(
            span: Self.start..<Self.start + .seconds(600), points: 1000, quantities: [.voltage],
            staleAfter: .seconds(3))
        for tenth in Array(stride(from: 0, to: 2000, by: 5)) + Array(stride(from: 2000, to: 6000, by: 50)) {
            series.add(Self.start + .milliseconds(100 * tenth), reading([.voltage: 5]))
        }

        let found = series.finish()

        #expect(found.gap == .seconds(10) && !found.columns[0].minima.contains(nil))
    }

    @Test func slowMeter_hasNoGaps_atItsOwnPace() {
        var series = builder(.seconds(7200), points: 7200)
        for minute in 0..<60 { series.add(Self.start + .seconds(60 * minute), reading([.voltage: 5])) }

        let found = series.finish()

        #expect(found.gap == .seconds(240))
        #expect(!found.columns[0].minima.contains(nil))
    }
}

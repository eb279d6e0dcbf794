import CoreTestKit
import Testing

@testable import Domain

/// Where one thing ends and the next begins: blocks, points, pages.
@Suite(.timeLimit(.minutes(10)))
struct SampleBoundaryTests {
    /// A current that flows the other way takes no more room.
    @Test func integer_isTheSame_forBothSigns() {
        for number in -2000...2000 {
            let value = Double(number) / 1000
            #expect(SampleChunkFormat.integer(for: value, exponent: 3) == Int64(number), "\(value)")
        }
    }

    private static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private func volts(_ value: Double) -> Reading {
        var reading = Reading()
        reading[.voltage] = value
        return reading
    }

    // MARK: Chunks

    /// Stored on people's disks.
    @Test func exponents_areThoseOfTen() {
        for exponent in UInt8(0)...9 {
            #expect(SampleChunkFormat.powerOfTen(exponent) == Double("1e\(exponent)"))
        }
    }

    // MARK: Blocks

    private func block(_ tier: SampleTier, buckets: Int, _ value: Double = 5) -> SampleBucketBlock {
        var block = SampleBucketBlock(tier: tier, holding: Self.start)
        for number in 0..<buckets {
            block.add(block.start + .milliseconds(tier.rawValue * Int64(number)), volts(value))
        }
        return block
    }

    /// Seconds lie in the hour that a block of minutes is for, and begin no minute.
    @Test func block_isMalformed_whereItsBucketsBeginBetweenTwo() throws {
        let bytes = block(.second, buckets: 3).encoded()
        let start = SampleBucketBlock(tier: .minute, holding: Self.start).start
        #expect(throws: ChunkError.malformed(offset: 1)) {
            try SampleBucketBlock(tier: .minute, start: start, bytes: bytes)
        }
    }

    /// Stored on people's disks.
    @Test(arguments: SampleTier.allCases)
    func block_holdsAsManyBucketsAsFit(_ tier: SampleTier) throws {
        #expect(SampleBucketBlock(tier: tier, holding: Self.start).encoded() == [])
        let most = Int(tier.blockLength / tier.rawValue)
        #expect(most == (tier == .second ? 600 : tier == .minute ? 60 : 24))
        for count in [1, most] {
            let block = block(tier, buckets: count)
            let bytes = block.encoded()
            #expect(Array(bytes.prefix(3)) == [1, UInt8(count % 256), UInt8(count / 256)])
            #expect(try SampleBucketBlock(tier: tier, start: block.start, bytes: bytes).buckets == block.buckets)
        }
    }

    @Test func block_isRefused_withTheReason() throws {
        let (good, start) = (block(.minute, buckets: 2), block(.minute, buckets: 1).start)
        func error(_ bytes: [UInt8]) -> ChunkError? {
            do throws(ChunkError) { _ = try SampleBucketBlock(tier: .minute, start: start, bytes: bytes) } catch {
                return error
            }
            return nil
        }
        let bytes = good.encoded()
        #expect(error([1, 2]) == .tooShort(length: 2))
        #expect(error([2] + bytes.dropFirst()) == .unknownVersion(2))
        #expect(error([1, 61, 0] + bytes.dropFirst(3)) == .malformed(offset: 1))
        #expect(error(bytes + [0]) == .malformed(offset: bytes.count))
        #expect(error([1, 1, 0, 0, 0, 0]) == .malformed(offset: 3))
        #expect(error([1, 1, 0, 9, 0, 0, 0]) == .malformed(offset: 7))
        // Four parts with no bucket in them: what holds nothing is not stored.
        let empty: [UInt8] = [5, 0, 0, 0, 1] + sealed([1])
        let four: [UInt8] = Array([empty, empty, empty, empty].joined())
        #expect(error([1, 0, 0] + four) == .malformed(offset: 1))
        // Parts of two blocks, which speak of different minutes.
        let other = block(.minute, buckets: 3, 7).encoded()
        let (ours, theirs, header) = (parts(of: bytes), parts(of: shifted()), [1, 2, 0] as [UInt8])
        let mixed: [UInt8] = [header, ours[0], theirs[1], ours[2], ours[3]].flatMap(\.self)
        #expect(error(mixed) == .malformed(offset: 1))
        #expect(error([header, Array(parts(of: other).joined())].flatMap(\.self)) != nil)
    }

    /// The same block with its second bucket a minute later.
    private func shifted() -> [UInt8] {
        var block = SampleBucketBlock(tier: .minute, holding: Self.start)
        for minute in [0, 2] { block.add(block.start + .seconds(60 * minute), volts(5)) }
        return block.encoded()
    }

    private func parts(of block: [UInt8]) -> [[UInt8]] {
        var (rest, parts) = (block.dropFirst(3), [[UInt8]]())
        while !rest.isEmpty {
            let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            parts.append(Array(rest.prefix(4 + length)))
            rest = rest.dropFirst(4 + length)
        }
        return parts
    }

    /// The check of a chunk: FNV-1a as published, offset basis 2166136261, prime 16777619.
    private func sealed(_ bytes: [UInt8]) -> [UInt8] {
        let check = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return (0..<4).map { UInt8(truncatingIfNeeded: check >> (8 * $0)) }
    }

    @Test func storedBucket_withoutAWholeValue_isLeftOut() {
        for count in [0, 0.5, -1] {
            let bucket = SampleBucket(
                start: Self.start, minima: volts(1), maxima: volts(1), means: volts(1), counts: volts(count))
            #expect(bucket.counts.known.isEmpty && bucket.means.known.isEmpty)
        }
        let whole = SampleBucket(
            start: Self.start, minima: volts(1), maxima: volts(3), means: volts(2), counts: volts(1))
        #expect([whole.minima, whole.maxima, whole.means, whole.counts].map { $0[.voltage] } == [1, 3, 2, 1])
    }

    @Test func mean_isRoundedToMillionths_whereItHasAny() {
        let (third, large) = (1.0 / 3, 1e9 + 0.25 / 3)
        #expect(third.toMillionths == 0.333333)
        #expect((-third).toMillionths == -0.333333)
        #expect(large.toMillionths == large)
        #expect(1e305.toMillionths == 1e305)
    }

    @Test func time_isFloored_alsoBefore1970() {
        for (time, floored) in [1999: 1000, 2000: 2000, 0: 0, -1: -1000, -1000: -1000, -1001: -2000] as [Int64: Int64] {
            #expect(WallTime(millisecondsSince1970: time).floored(to: 1000).millisecondsSince1970 == floored)
        }
        let least = WallTime(millisecondsSince1970: .min)
        #expect(least.floored(to: 1000) == least)
    }

    // MARK: Chunks

    @Test func chunk_spansAnHour_andAnEmptyOneTakesAnyTime() {
        var builder = SampleChunkBuilder(meter: .mac(MACAddress(bits: 0xAABB_CCDD_EEFF)))
        for time in [Int64.min, 0, .max] { #expect(!builder.isFar(WallTime(millisecondsSince1970: time))) }
        builder.append(Self.start, volts(1))
        for (offset, isFar) in [(3_600_000, false), (3_600_001, true), (-3_600_000, false), (-3_600_001, true)] {
            #expect(builder.isFar(Self.start + .milliseconds(offset)) == isFar, "\(offset)")
        }
        builder.append(Self.start + .seconds(3000), volts(1))
        #expect(builder.isFar(Self.start + .milliseconds(-600_001)))
        #expect(!builder.isFar(Self.start + .milliseconds(-600_000)))
        _ = builder.finish()
        builder.append(WallTime(millisecondsSince1970: .max), volts(1))
        #expect(builder.isFar(WallTime(millisecondsSince1970: .min)))
    }

    @Test func collector_keepsTheEarliest_inOrder_withinItsSpan() {
        func samples(_ seconds: [Int]) -> [StoredSample] {
            seconds.map { StoredSample(time: Self.start + .seconds($0), reading: volts(Double($0))) }
        }
        func times(_ collector: consuming SampleChunkCollector) -> [WallTime] { collector.finish().map(\.time) }
        let span = Self.start..<Self.start + .seconds(10)
        var collector = SampleChunkCollector(span: span, limit: 4)
        #expect(!collector.isComplete(before: Self.start))
        collector.add(samples([-1, 0, 5, 9, 10]))
        #expect(!collector.isComplete(before: span.upperBound), "three of four")
        collector.add(samples([3, 7]))
        #expect(times(collector) == samples([0, 3, 5, 7]).map(\.time))
        #expect(!collector.isComplete(before: Self.start + .seconds(6)), "one at six seconds comes before the last")
        #expect(collector.isComplete(before: Self.start + .seconds(7)))
        for limit in [0, -1] {
            var none = SampleChunkCollector(span: span, limit: limit)
            #expect(none.isComplete(before: Self.start))
            none.add(samples([1, 2]))
            #expect(times(none) == [])
        }
    }

    // MARK: Points

    struct Points: CustomStringConvertible, Sendable {
        var offset: Int64 = 0
        var length: Int64
        var points: Int
        var width: Int64
        var count: Int
        var tier: SampleTier?

        var description: String { "\(length) ms from \(offset) in \(points) points" }
    }

    /// The start is a whole second, 40 s into a minute and 6 min 40 s into an hour.
    private static let points: [Points] = [
        Points(length: 10_000, points: 10, width: 1000, count: 10),
        Points(length: 10_001, points: 10, width: 2000, count: 6),
        Points(length: 10_000, points: 3, width: 4000, count: 3),
        Points(offset: 500, length: 10_000, points: 10, width: 1000, count: 11),
        Points(length: 1000, points: 10, width: 100, count: 10),
        Points(offset: 500, length: 9990, points: 10, width: 999, count: 10),
        Points(length: 7, points: 100, width: 1, count: 7),
        Points(length: 0, points: 10, width: 1, count: 0),
        Points(length: 10_000, points: 0, width: 10_000, count: 1),
        Points(length: 10_000, points: .max, width: 1, count: 10_000),
        Points(length: 10_001, points: .max, width: 2, count: 5001),
        Points(length: 59_999, points: 1, width: 60_000, count: 1),
        Points(length: 60_000, points: 1, width: 60_000, count: 2, tier: .minute),
        Points(length: 59_999, points: 5, width: 12_000, count: 5),
        Points(length: 119_999, points: 6, width: 20_000, count: 6),
        Points(length: 120_000, points: 6, width: 60_000, count: 3, tier: .minute),
        Points(length: 21_599_999, points: 6, width: 3_600_000, count: 7, tier: .minute),
        Points(length: 21_600_000, points: 6, width: 3_600_000, count: 7, tier: .hour),
        Points(length: 3_600_000, points: 1, width: 3_600_000, count: 2, tier: .hour),
    ]

    @Test(arguments: points)
    func points_areWholeUnits_andAsManyAsAskedFor(_ row: Points) {
        let from = Self.start + .milliseconds(row.offset)
        var builder = SeriesBuilder(
            span: from..<from + .milliseconds(row.length), points: row.points, quantities: [.voltage])
        #expect(builder.tier == row.tier)
        #expect(builder.width == row.width)
        #expect(builder.pointCount == row.count)
        #expect(builder.origin <= from && from < builder.origin + .milliseconds(row.tier?.rawValue ?? 1000))
        #expect(builder.end == from + .milliseconds(row.length))

        for time in [builder.origin + .milliseconds(-1), builder.end] { builder.add(time, volts(1)) }
        #expect(builder.latest == nil, "outside")
        guard row.count > 0 else { return }
        for time in [builder.end + .milliseconds(-1), builder.origin] { builder.add(time, volts(1)) }
        #expect(builder.latest == builder.end + .milliseconds(-1))
        #expect(builder.finish().columns.map(\.quantity) == [.voltage])
    }

    @Test func span_endsWithTheCalendar() {
        let all = WallTime(millisecondsSince1970: .min)..<WallTime(millisecondsSince1970: .max)
        let builder = SeriesBuilder(span: all, points: 10, quantities: [])
        // The years 0 to 9999, in milliseconds since 1970.
        #expect(builder.end.millisecondsSince1970 == 253_402_300_799_999)
        let year0: Int64 = -62_167_219_200_000
        let origin = builder.origin.millisecondsSince1970
        #expect(origin <= year0 && origin > year0 - 3_600_000)
        #expect(builder.pointCount == 10)
    }

    @Test func point_weighsBucketsByWhatIsInThem_andRoundsTheMean() {
        var series = SeriesBuilder(
            span: Self.start..<Self.start + .seconds(10), points: 1, quantities: [.voltage, .current])
        var bucket = SampleBucket(start: Self.start)
        for value in [1.0, 2, 3] { bucket.add(volts(value)) }
        series.add(bucket)
        series.add(Self.start + .seconds(5), volts(7))
        series.add(Self.start + .seconds(6), volts(0))
        let found = series.finish()
        #expect(found.columns.map(\.means) == [[2.6]])
        #expect(found.columns.map(\.minima) == [[0]] && found.columns.map(\.maxima) == [[7]])

        var third = SeriesBuilder(span: Self.start..<Self.start + .seconds(10), points: 1, quantities: [.voltage])
        for value in [0.0, 0, 1] { third.add(Self.start, volts(value)) }
        #expect(third.finish().columns[0].means == [0.333333])
    }

    @Test func gap_isFourUsualSteps_andStandsInItsMiddle() {
        func gap(_ steps: [Int]) -> Duration {
            var series = SeriesBuilder(
                span: Self.start..<Self.start + .seconds(1000), points: 1000, quantities: [.voltage])
            var time = Self.start
            series.add(time, volts(1))
            for step in steps {
                time = time + .seconds(step)
                series.add(time, volts(1))
            }
            return series.finish().gap
        }
        #expect(gap([]) == Series.gapMin)
        #expect(gap([5]) == .seconds(20))
        #expect(gap([10, 1, 10, 1, 10]) == .seconds(40), "by the middle one")
        #expect(gap([1, 10, 1, 10]) == .seconds(40))
        #expect(gap([1, 10, 1, 1]) == Series.gapMin)
        for (hours, tier) in [(6, SampleTier.minute), (2000, .hour)] {
            let length = Duration.seconds(3600 * hours)
            var series = SeriesBuilder(span: Self.start..<Self.start + length, points: 1000, quantities: [.voltage])
            series.add(Self.start, volts(1))
            #expect(series.tier == tier && series.finish().gap == .milliseconds(tier.rawValue * 2))
        }
        var series = SeriesBuilder(span: Self.start..<Self.start + .seconds(100), points: 100, quantities: [.voltage])
        for second in [0, 1, 2, 50] { series.add(Self.start + .seconds(second), volts(1)) }
        #expect(series.finish().times == [0, 1, 2, 7, 50].map { Self.start + .seconds($0) })
    }
}

import CoreTestKit
import Domain
import Testing

struct SampleBucketTests {
    private static let start = WallTime(millisecondsSince1970: 1_794_999_600_000)

    /// A reading with varying quantities, as some meters send.
    private func reading(_ rng: inout SeededRNG) -> Reading {
        var reading = Reading()
        for quantity in [Quantity.voltage, .current, .energy] where rng.next() % 4 != 0 {
            reading[quantity] = rng.next() % 5 == 0 ? nil : Double(rng.next() % 20_000) / 1000
        }
        return reading
    }

    /// A bucket merged from parts equals the bucket of the whole.
    @Test func merging_isAsAddingAll() {
        for seed in UInt64(0)..<300 {
            var rng = SeededRNG(seed: seed)
            var whole = SampleBucket(start: Self.start)
            var parts = (0..<3).map { _ in SampleBucket(start: Self.start) }
            for _ in 0..<Int(rng.next() % 100) {
                let reading = reading(&rng)
                whole.add(reading)
                parts[Int(rng.next() % 3)].add(reading)
            }

            var merged = SampleBucket(start: Self.start)
            for part in parts { merged.merge(part) }

            #expect(merged.minima == whole.minima, "seed \(seed)")
            #expect(merged.maxima == whole.maxima, "seed \(seed)")
            #expect(merged.counts == whole.counts, "seed \(seed)")
            whole.means.known.forEach { quantity in
                let difference = (merged.means[quantity] ?? .nan) - (whole.means[quantity] ?? .nan)
                #expect(difference.magnitude < 1e-9, "seed \(seed)")
            }
        }
    }

    private func block(_ tier: SampleTier, _ rng: inout SeededRNG) -> SampleBucketBlock {
        var block = SampleBucketBlock(tier: tier, holding: Self.start)
        for _ in 0..<200 {
            let time = block.start + .milliseconds(Int64(rng.next() % UInt64(tier.blockLength)))
            block.add(time, reading(&rng))
        }
        return block
    }

    @Test(arguments: SampleTier.allCases)
    func block_comesBack_asItWas(_ tier: SampleTier) throws {
        for seed in UInt64(0)..<20 {
            var rng = SeededRNG(seed: seed)
            let block = block(tier, &rng)

            let again = try SampleBucketBlock(tier: tier, start: block.start, bytes: block.encoded())

            #expect(again.buckets.map(\.start) == block.buckets.map(\.start), "seed \(seed)")
            for (found, bucket) in zip(again.buckets, block.buckets) {
                #expect(found.minima.known == bucket.minima.known, "seed \(seed)")
                bucket.counts.known.forEach { quantity in
                    #expect(found.minima[quantity] == bucket.minima[quantity], "seed \(seed)")
                    #expect(found.maxima[quantity] == bucket.maxima[quantity], "seed \(seed)")
                    #expect(found.counts[quantity] == bucket.counts[quantity], "seed \(seed)")
                    let difference = (found.means[quantity] ?? .nan) - (bucket.means[quantity] ?? .nan)
                    #expect(difference.magnitude <= 1e-6, "seed \(seed)")
                }
            }
            #expect(again.encoded() == block.encoded(), "seed \(seed)")
        }
    }

    @Test func damagedBlock_isAnError_andNeverATrap() {
        var rng = SeededRNG(seed: 1)
        let whole = block(.minute, &rng)
        let bytes = whole.encoded()
        for seed in UInt64(0)..<3000 {
            var rng = SeededRNG(seed: seed)
            var damaged = bytes
            switch rng.next() % 3 {
            case 0: damaged[Int(rng.next() % UInt64(damaged.count))] ^= UInt8(1 << (rng.next() % 8))
            case 1: damaged.removeLast(1 + Int(rng.next() % UInt64(damaged.count)))
            default: damaged.append(UInt8(truncatingIfNeeded: rng.next()))
            }

            #expect(throws: ChunkError.self, "seed \(seed)") {
                _ = try SampleBucketBlock(tier: .minute, start: whole.start, bytes: damaged)
            }
        }
    }

    @Test func block_isRefused_atAnotherPlace() {
        var rng = SeededRNG(seed: 2)
        let block = block(.minute, &rng)

        #expect(throws: ChunkError.self) {
            _ = try SampleBucketBlock(
                tier: .minute, start: block.start + .seconds(3600), bytes: block.encoded())
        }
        #expect(throws: ChunkError.self) {
            _ = try SampleBucketBlock(tier: .hour, start: block.start, bytes: block.encoded())
        }
    }

    /// A minute takes a few tens of bytes, so that a year of them takes some megabytes.
    @Test func minutes_areShort() {
        var block = SampleBucketBlock(tier: .minute, holding: Self.start)
        var rng = SeededRNG(seed: 3)
        for half in 0..<7200 {
            var reading = Reading()
            reading[.voltage] = 5 + Double(rng.next() % 30) / 1000
            reading[.current] = 1.5 + Double(rng.next() % 30) / 1000
            reading[.power] = 7.5 + Double(rng.next() % 60) / 1000
            reading[.energy] = Double(half) / 1000
            reading[.temperature] = 25
            block.add(Self.start + .milliseconds(500 * half), reading)
        }

        #expect(block.buckets.count == 60)
        #expect(block.encoded().count < 60 * 45, "\(block.encoded().count) bytes")
    }
}

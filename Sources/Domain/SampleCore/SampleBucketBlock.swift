/// Buckets of one meter in one block of time, stored as one row.
///
/// ```
/// block = version (1 byte) count (2 bytes) part part part part
/// part  = length (4 bytes) and a sample chunk (`SampleChunkFormat`): minima, maxima, means, counts
/// ```
///
/// Numbers are little-endian. Each part has `count` samples, at the buckets' starts. Means are rounded to a millionth
/// of their unit, which no meter resolves.
package struct SampleBucketBlock: Hashable, Sendable {
    package let tier: SampleTier
    package let start: WallTime
    private var byStart: [Int64: SampleBucket] = [:]

    package init(tier: SampleTier, holding time: WallTime) {
        self.tier = tier
        start = tier.block(of: time)
    }

    package var buckets: [SampleBucket] { byStart.values.sorted { $0.start < $1.start } }

    package mutating func add(_ time: WallTime, _ reading: Reading) {
        let start = tier.bucket(of: time)
        byStart[start.millisecondsSince1970, default: SampleBucket(start: start)].add(reading)
    }

    /// Adds a bucket, which must lie within this block and may be shorter than the tier's buckets.
    package mutating func add(_ bucket: SampleBucket) {
        let start = tier.bucket(of: bucket.start)
        byStart[start.millisecondsSince1970, default: SampleBucket(start: start)].merge(bucket)
    }

    package mutating func merge(_ other: SampleBucketBlock) {
        for (key, bucket) in other.byStart {
            byStart[key, default: SampleBucket(start: bucket.start)].merge(bucket)
        }
    }

    // MARK: Bytes

    private static let version: UInt8 = 1
    private static let headerLength = 3
    private static let lengthLength = 4

    /// Returns no bytes for an empty block.
    package func encoded() -> [UInt8] {
        let buckets = buckets
        guard !buckets.isEmpty else { return [] }
        var bytes = [
            Self.version, UInt8(truncatingIfNeeded: buckets.count), UInt8(truncatingIfNeeded: buckets.count >> 8),
        ]
        for part in [\SampleBucket.minima, \.maxima, \.roundedMeans, \.counts] {
            // Any id will do: the encoded bytes do not contain it.
            var builder = SampleChunkBuilder(meter: .mac(MACAddress(bits: 0)))
            for bucket in buckets { builder.append(bucket.start, bucket[keyPath: part]) }
            let chunk = builder.finish()?.bytes ?? []
            for shift in stride(from: 0, to: 32, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: chunk.count >> shift))
            }
            bytes += chunk
        }
        return bytes
    }

    /// Inverse of `encoded`. Throws for any invalid bytes.
    package init(tier: SampleTier, start: WallTime, bytes: [UInt8]) throws(ChunkError) {
        self.init(tier: tier, holding: start)
        guard bytes.count >= Self.headerLength else { throw .tooShort(length: bytes.count) }
        guard bytes[0] == Self.version else { throw .unknownVersion(bytes[0]) }
        let count = Int(bytes[1]) | Int(bytes[2]) << 8
        guard count >= 1, Int64(count) <= tier.blockLength / tier.rawValue else { throw .malformed(offset: 1) }
        var rest = bytes[Self.headerLength...]
        var parts: [[StoredSample]] = []
        for _ in 0..<4 { parts.append(try Self.part(count: count, of: &rest)) }
        guard rest.isEmpty else { throw .malformed(offset: rest.startIndex) }
        for index in 0..<count {
            let time = parts[0][index].time
            let isOurs = tier.block(of: time) == self.start && tier.bucket(of: time) == time
            guard isOurs, parts.allSatisfy({ $0[index].time == time }) else { throw .malformed(offset: 1) }
            byStart[time.millisecondsSince1970] = SampleBucket(
                start: time, minima: parts[0][index].reading, maxima: parts[1][index].reading,
                means: parts[2][index].reading, counts: parts[3][index].reading)
        }
    }

    private static func part(count: Int, of rest: inout ArraySlice<UInt8>) throws(ChunkError) -> [StoredSample] {
        guard rest.count >= lengthLength else { throw .malformed(offset: rest.startIndex) }
        let length = rest.prefix(lengthLength).reversed().reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(lengthLength)
        guard length <= rest.count else { throw .malformed(offset: rest.startIndex) }
        defer { rest = rest.dropFirst(length) }
        var decoder = try SampleChunkDecoder(Array(rest.prefix(length)))
        return try decoder.samples(count: count)
    }
}

extension SampleBucket {
    package var roundedMeans: Reading {
        var rounded = Reading()
        means.known.forEach { quantity in
            guard let mean = means[quantity], let least = minima[quantity], let greatest = maxima[quantity] else {
                return
            }
            rounded[quantity] = min(max(mean.toMillionths, least), greatest)
        }
        return rounded
    }
}

extension Double {
    /// Value rounded to a millionth; unchanged from 1e9 on. A value below a thousandth is rounded to a billionth, for
    /// currents of some microamperes.
    package var toMillionths: Double {
        guard magnitude < 1e9 else { return self }
        let scale = magnitude < 1e-3 ? 1e9 : 1e6
        return (self * scale).rounded() / scale
    }
}

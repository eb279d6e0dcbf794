package import Domain

/// A chunk of seconds: of readings that come too often to be kept one by one, the least, greatest, mean and number of each
/// second (Docs/Decisions/0033-samples-of-fast-meters.md).
///
/// ```
/// chunk = version 3 (1 byte) block (`SampleBucketBlock`, of seconds)
/// ```
///
/// Its `count` is the number of seconds, and `first` and `last` are where the first and the last of them begin.
extension SampleChunk {
    /// The first byte of such a chunk.
    package static let secondsVersion: UInt8 = 3

    /// Whether it holds seconds instead of readings.
    package var holdsSeconds: Bool { bytes.first == Self.secondsVersion }

    /// Seconds as chunks, one for each block that they lie in.
    ///
    /// - Parameter seconds: in any order.
    package static func seconds(of meter: MeterID, _ seconds: [SampleBucket]) -> [SampleChunk] {
        var blocks: [SampleBucketBlock] = []
        for bucket in seconds.sorted(by: { $0.start < $1.start }) {
            let start = SampleTier.second.block(of: bucket.start)
            if blocks.last?.start != start { blocks.append(SampleBucketBlock(tier: .second, holding: start)) }
            blocks[blocks.count - 1].add(bucket)
        }
        return blocks.compactMap { block in
            let buckets = block.buckets
            guard let first = buckets.first, let last = buckets.last else { return nil }
            return SampleChunk(
                meter: meter, first: first.start, last: last.start, count: buckets.count,
                bytes: [secondsVersion] + block.encoded())
        }
    }

    /// The seconds in it, the earliest first; empty for a chunk of readings.
    package func seconds() throws(ChunkError) -> [SampleBucket] {
        guard holdsSeconds else { return [] }
        let block = try SampleBucketBlock(
            tier: .second, start: SampleTier.second.block(of: first), bytes: Array(bytes.dropFirst()))
        let buckets = block.buckets
        guard buckets.count == count else { throw .wrongCount(expected: count, found: buckets.count) }
        return buckets
    }

    /// What is in it, in the order in which it was added.
    package func pieces() throws(ChunkError) -> [StoredPiece] {
        guard holdsSeconds else { return try samples().map { .reading($0) } }
        return try seconds().map { .bucket($0, .second) }
    }
}

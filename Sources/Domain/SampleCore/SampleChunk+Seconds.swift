/// One-second buckets of meters with very frequent readings (Docs/Decisions/0033-samples-of-fast-meters.md). `count`
/// counts seconds; `first` and `last` are starts of seconds.
///
/// ```
/// chunk = version 3 (1 byte) block (`SampleBucketBlock`, of seconds)
/// ```
extension SampleChunk {
    package static let secondsVersion: UInt8 = 3

    package var holdsSeconds: Bool { bytes.first == Self.secondsVersion }

    /// Packs one-second buckets, in any order, into one chunk per block of time.
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

    /// One-second buckets, earliest first; empty for a chunk of readings.
    package func seconds() throws(ChunkError) -> [SampleBucket] {
        guard holdsSeconds else { return [] }
        let block = try SampleBucketBlock(
            tier: .second, start: SampleTier.second.block(of: first), bytes: Array(bytes.dropFirst()))
        let buckets = block.buckets
        guard buckets.count == count else { throw .wrongCount(expected: count, found: buckets.count) }
        return buckets
    }

    package func pieces() throws(ChunkError) -> [StoredPiece] {
        guard holdsSeconds else { return try samples().map { .reading($0) } }
        return try seconds().map { .bucket($0, .second) }
    }
}

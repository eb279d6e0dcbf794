package import Gateway
package import MeterModel

/// A store that forgets at the end of the process, and that fails when a test says so. Keeps both repository
/// contracts, as `MeterStore` does.
package actor InMemoryMeterStore: MeterRepository, SampleRepository {
    private var knownMeters: [MeterID: KnownMeter] = [:]
    private var failure: StoreError?
    /// What was appended and not pruned, in that order.
    package private(set) var chunks: [SampleChunk] = []
    /// How often `append` was called, failed calls included.
    package private(set) var appendCount = 0

    package init(meters: [KnownMeter] = []) {
        for meter in meters { knownMeters[meter.id] = meter }
    }

    /// From now on every call that writes throws `error`; nil ends that.
    package func failWrites(with error: StoreError?) { failure = error }

    private func checkWritable() throws(StoreError) {
        if let failure { throw failure }
    }

    // MARK: - MeterRepository

    package func meters() -> [KnownMeter] { knownMeters.values.sorted { $0.id < $1.id } }

    package func save(_ meter: KnownMeter) throws(StoreError) {
        try checkWritable()
        knownMeters[meter.id] = meter
    }

    // MARK: - SampleRepository

    package func append(_ chunks: [SampleChunk]) throws(StoreError) {
        appendCount += 1
        try checkWritable()
        if let bad = chunks.first(where: { $0.count <= 0 || $0.first > $0.last }) {
            throw StoreError(.system, "a chunk of \(bad.meter) has \(bad.count) samples, \(bad.first) to \(bad.last)")
        }
        self.chunks += chunks
    }

    package func samples(of meter: MeterID, in span: Range<WallTime>, limit: Int) throws -> [StoredSample] {
        var collector = SampleChunkCollector(span: span, limit: limit)
        for chunk in chunks.filter({ $0.meter == meter }).sorted(by: { $0.first < $1.first }) {
            collector.add(try chunk.samples())
        }
        return collector.finish()
    }

    /// Counts the chunks' bytes alone.
    package func prune(before cutoff: WallTime, maxBytes: Int64) throws(StoreError) -> Int {
        try checkWritable()
        let countBefore = sampleCount
        chunks.removeAll { $0.last < cutoff }
        var byOldest = chunks.indices.sorted { chunks[$0].first > chunks[$1].first }
        var surplus: Set<Int> = []
        var size = chunks.reduce(Int64(0)) { $0 + Int64($1.bytes.count) }
        while size > maxBytes, let oldest = byOldest.popLast() {
            size -= Int64(chunks[oldest].bytes.count)
            surplus.insert(oldest)
        }
        chunks = chunks.indices.filter { !surplus.contains($0) }.map { chunks[$0] }
        return countBefore - sampleCount
    }

    private var sampleCount: Int { chunks.reduce(0) { $0 + $1.count } }
}

package import Domain
package import Gateway

/// A store that keeps everything in memory, and fails when a test says so. It keeps the contracts of both repositories,
/// as `MeterStore` does.
package actor InMemoryMeterStore: MeterRepository, SampleRepository {
    private var knownMeters: [MeterID: KnownMeter] = [:]
    private var failure: StoreError?
    /// The chunks that were appended and not pruned, in that order.
    package private(set) var chunks: [SampleChunk] = []
    /// The chunks that are not rolled up into minutes yet.
    private var unrolled: [SampleChunk] = []
    private var blocks: [TierPlace: SampleBucketBlock] = [:]
    private var date: BelievedDate?
    private var running: [RecordingID: Recording] = [:]
    private var counts: [MeterID: EnergyCount] = [:]
    private var logLines: [Int64: StoredLogLine] = [:]
    /// How often `append` was called, including failed calls.
    package private(set) var appendCount = 0
    /// How often single readings were requested.
    package private(set) var reads = 0

    private let former: [MeterID: MeterID]

    package init(meters: [KnownMeter] = [], former: [MeterID: MeterID] = [:]) {
        self.former = former
        for meter in meters { knownMeters[meter.id] = meter }
    }

    /// Makes every call that writes throw `error` from now on; nil ends that.
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

    package func forget(_ meter: MeterID) throws(StoreError) {
        try checkWritable()
        knownMeters[meter] = nil
    }

    package func formerIDs() -> [MeterID: MeterID] { former }

    // MARK: - SampleRepository

    package func append(_ chunks: [SampleChunk], keeping counts: [MeterID: EnergyCount]) throws(StoreError) {
        appendCount += 1
        try checkWritable()
        if let bad = chunks.first(where: { $0.count <= 0 || $0.first > $0.last }) {
            throw StoreError(.system, "a chunk of \(bad.meter) has \(bad.count) samples, \(bad.first) to \(bad.last)")
        }
        self.counts.merge(counts) { _, newer in newer }
        self.chunks += chunks
        unrolled += chunks
    }

    package func samples(of meter: MeterID, in span: Range<WallTime>, limit: Int) throws -> [StoredSample] {
        reads += 1
        var collector = SampleChunkCollector(span: span, limit: limit)
        for chunk in chunks.filter({ $0.meter == meter && !$0.holdsSeconds }).sorted(by: { $0.first < $1.first }) {
            collector.add(try chunk.samples())
        }
        return collector.finish()
    }

    /// Counts only the bytes of chunks.
    package func prune(before cutoff: WallTime, maxBytes: Int64) throws(StoreError) -> Int {
        try checkWritable()
        let countBefore = sampleCount
        chunks.removeAll { $0.last < cutoff && !isSpared($0.first...max($0.first, $0.last), cutoff) }
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

    package func deleteReadings(of meter: MeterID) throws(StoreError) -> Int {
        try checkWritable()
        let before = sampleCount
        chunks.removeAll { $0.meter == meter }
        unrolled.removeAll { $0.meter == meter }
        blocks = blocks.filter { $0.key.meter != meter }
        return before - sampleCount
    }

    private var sampleCount: Int { chunks.reduce(0) { $0 + $1.count } }
}

extension InMemoryMeterStore: EnergyCountRepository {
    package func energyCounts() -> [MeterID: EnergyCount] { counts }

    package func keepEnergyCount(_ count: EnergyCount?, of meter: MeterID) throws(StoreError) {
        try checkWritable()
        counts[meter] = count
    }
}

extension InMemoryMeterStore: StoredMetersRepository {
    package func storedMeters() -> [MeterID] { Set(chunks.map(\.meter).filter { !$0.isImportStretch }).sorted() }
}

extension InMemoryMeterStore: ImportRepository {
    package func importStretches() -> [MeterID] {
        Set(chunks.map(\.meter).filter(\.isImportStretch)).sorted()
    }

    package func deleteImport(_ stretch: MeterID) throws(StoreError) -> Int { try deleteReadings(of: stretch) }
}

extension InMemoryMeterStore: RecordingRepository {
    package func runningRecordings() -> [Recording] { running.values.sorted { $0.id < $1.id } }

    package func keep(_ recordings: [Recording]) throws(StoreError) {
        try checkWritable()
        for recording in recordings { running[recording.id] = recording }
    }

    package func forget(_ recording: RecordingID) throws(StoreError) {
        try checkWritable()
        running[recording] = nil
    }
}

extension InMemoryMeterStore: LogRepository {
    package func lastLogNumber() -> Int64 { logLines.keys.max() ?? 0 }

    package func endHoldings(_ end: LogHolding.End) throws(StoreError) {
        try checkWritable()
        for (number, line) in logLines {
            guard case .held(var holding) = line.entry.event, holding.end == nil else { continue }
            holding.end = end
            logLines[number]?.entry.event = .held(holding)
        }
    }

    package func keepLog(_ lines: [StoredLogLine], countMax: Int) throws(StoreError) {
        try checkWritable()
        if let bad = lines.first(where: { MeterID($0.meter.description) != $0.meter }) {
            throw StoreError(
                .system, "the meter \"\(bad.meter)\" cannot be kept: its name does not read back as the same")
        }
        for line in lines { logLines[line.number] = line }
        for meter in Set(lines.map(\.meter)) {
            let numbers = logLines.values.filter { $0.meter == meter }.map(\.number).sorted()
            for number in numbers.dropLast(countMax) { logLines[number] = nil }
        }
    }

    package func log(of meters: [MeterID], limit: Int) -> [StoredLogLine] {
        logLines.values.filter { meters.contains($0.meter) }.sorted { $0.number < $1.number }.suffix(limit)
    }

    package func pruneLog(before cutoff: WallTime) throws(StoreError) -> Int {
        try checkWritable()
        let old = logLines.values.filter { line in
            let (first, last) = (line.entry.first.wall, line.entry.last.wall)
            return max(first, last) < cutoff && !line.entry.isOpen
                && !isSpared(min(first, last)...max(first, last), cutoff)
        }
        for line in old { logLines[line.number] = nil }
        return old.count
    }

    package func deleteLog(of meter: MeterID) throws(StoreError) {
        try checkWritable()
        logLines = logLines.filter { $0.value.meter != meter }
    }
}

/// The place of a block.
private struct TierPlace: Hashable {
    var tier: SampleTier
    var meter: MeterID
    var start: WallTime
}

extension InMemoryMeterStore: TierRepository {
    package func rollUp() throws -> Int {
        try checkWritable()
        guard let chunk = unrolled.first else { return 0 }
        try sumUp(chunk, in: [.minute, .hour])
        unrolled.removeFirst()
        return chunk.count
    }

    package func thin(before cutoff: WallTime) throws -> Int {
        try checkWritable()
        let index = chunks.firstIndex { chunk in
            let length = chunk.last.millisecondsSince1970 - chunk.first.millisecondsSince1970 + 1000
            return chunk.last < cutoff && Int64(chunk.count) * 1000 > SampleRetention.thinnedRate * length
                && !unrolled.contains(chunk)
        }
        guard let index else { return 0 }
        try sumUp(chunks[index], in: [.second])
        return chunks.remove(at: index).count
    }

    package func expire(_ tier: SampleTier, before cutoff: WallTime) throws {
        try checkWritable()
        blocks = blocks.filter { place, _ in
            place.tier != tier
                || place.start.millisecondsSince1970 + tier.blockLength > cutoff.millisecondsSince1970
        }
    }

    package func buckets(_ tier: SampleTier, of meter: MeterID, in span: Range<WallTime>) -> [SampleBucket] {
        let whole = tier == .second ? chunks.filter { $0.meter == meter } : []
        let stored = blocks.filter { $0.key.tier == tier && $0.key.meter == meter }.flatMap(\.value.buckets)
        return (stored + whole.flatMap { (try? $0.seconds()) ?? [] })
            .filter { span.contains($0.start) }.sorted { $0.start < $1.start }
    }

    package func firstStored(of meter: MeterID, in span: Range<WallTime>) throws -> WallTime? {
        var times =
            buckets(.second, of: meter, in: span).map(\.start) + buckets(.minute, of: meter, in: span).map(\.start)
        for chunk in chunks where chunk.meter == meter { times += try chunk.pieces().map(\.time) }
        return times.filter(span.contains).min()
    }

    package func fill(_ series: SeriesBuilder, of meter: MeterID) throws -> SeriesBuilder {
        var series = series
        for (place, block) in blocks where place.tier == series.tier ?? .second && place.meter == meter {
            for bucket in block.buckets { series.add(bucket) }
        }
        for chunk in series.tier == nil ? chunks : unrolled where chunk.meter == meter {
            for piece in try chunk.pieces() {
                switch piece {
                case .reading(let sample): series.add(sample.time, sample.reading)
                case .bucket(let bucket, _): series.add(bucket)
                }
            }
        }
        return series
    }

    private func sumUp(_ chunk: SampleChunk, in tiers: [SampleTier]) throws {
        for bucket in try chunk.seconds() {
            for tier in tiers {
                let place = TierPlace(tier: tier, meter: chunk.meter, start: tier.block(of: bucket.start))
                blocks[place, default: SampleBucketBlock(tier: tier, holding: bucket.start)].add(bucket)
            }
        }
        guard !chunk.holdsSeconds else { return }
        try chunk.forEach { sample in
            for tier in tiers {
                let place = TierPlace(tier: tier, meter: chunk.meter, start: tier.block(of: sample.time))
                blocks[place, default: SampleBucketBlock(tier: tier, holding: sample.time)].add(
                    sample.time, sample.reading)
            }
        }
    }
}

extension InMemoryMeterStore: RetentionRepository {
    package func believed() -> BelievedDate? { date }

    package func save(_ believed: BelievedDate) throws(StoreError) {
        try checkWritable()
        date = believed
    }

    package func newestStored() -> WallTime? { chunks.map(\.last).max() }

    package func firstStored(after time: WallTime) -> WallTime? {
        chunks.filter { $0.last > time }.map { max($0.first, time + .milliseconds(1)) }.min()
    }

    private func isSpared(_ span: ClosedRange<WallTime>, _ cutoff: WallTime) -> Bool {
        (date?.doubts ?? []).contains { doubt in
            doubt.first <= span.upperBound && span.lowerBound <= doubt.last
                && (doubt.confirmed.map { $0 >= cutoff } ?? true)
        }
    }
}

/// Collects samples of several chunks in a time span, in time order, up to a maximum number. Chunks are added by start,
/// earliest first, and may overlap.
package struct SampleChunkCollector {
    private let span: Range<WallTime>
    private let limit: Int
    private var samples: [StoredSample] = []

    package init(span: Range<WallTime>, limit: Int) {
        self.span = span
        self.limit = max(0, limit)
    }

    /// Whether chunks that start at `time` or later cannot add a sample.
    package func isComplete(before time: WallTime) -> Bool {
        guard samples.count >= limit else { return false }
        guard let last = samples.last else { return true }
        return last.time <= time
    }

    package mutating func add(_ chunk: [StoredSample]) {
        var isSorted = true
        for sample in chunk where span.contains(sample.time) {
            if let last = samples.last, sample.time < last.time { isSorted = false }
            samples.append(sample)
        }
        // Samples are unsorted only after a step of the system clock. Sorting after each chunk would take quadratic
        // time.
        if !isSorted { samples.sort { $0.time < $1.time } }
        if samples.count > limit { samples.removeSubrange(limit...) }
    }

    package consuming func finish() -> [StoredSample] { samples }
}

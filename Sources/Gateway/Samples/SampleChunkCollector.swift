package import Domain

/// Puts the samples of several chunks in order of time, within a span and up to a number. For those who implement
/// `SampleRepository`: chunks are added by their start, the earliest first, and may overlap.
package struct SampleChunkCollector {
    private let span: Range<WallTime>
    private let limit: Int
    private var samples: [StoredSample] = []

    package init(span: Range<WallTime>, limit: Int) {
        self.span = span
        self.limit = max(0, limit)
    }

    /// True when chunks that start at `time` or later have nothing to add.
    package func isComplete(before time: WallTime) -> Bool {
        guard samples.count >= limit else { return false }
        guard let last = samples.last else { return true }
        return last.time <= time
    }

    /// Adds a chunk's samples. Keeps no more than `limit` of all so far.
    package mutating func add(_ chunk: [StoredSample]) {
        var isSorted = true
        for sample in chunk where span.contains(sample.time) {
            if let last = samples.last, sample.time < last.time { isSorted = false }
            samples.append(sample)
        }
        // Only after a step of the calendar; sorting at each chunk would make a long span quadratic.
        if !isSorted { samples.sort { $0.time < $1.time } }
        if samples.count > limit { samples.removeSubrange(limit...) }
    }

    /// The samples, oldest first.
    package consuming func finish() -> [StoredSample] { samples }
}

import Domain

/// Minima and maxima of the current and the previous half second, so that a viewer that updates twice a second misses
/// no sample.
struct RecentSpread: Sendable {
    private var present = SampleBucket(start: WallTime(millisecondsSince1970: 0))
    private var former = SampleBucket(start: WallTime(millisecondsSince1970: 0))
    private var endsAt = MonotonicTime.origin

    static let length = Duration.milliseconds(500)

    mutating func add(_ reading: TimedReading) {
        if reading.time >= endsAt {
            former = present
            present = SampleBucket(start: reading.wallTime)
            endsAt = reading.time + Self.length
        }
        present.add(reading.reading, reading.spread)
    }

    /// Nil before the first sample.
    var whole: SampleBucket? {
        var whole = former
        whole.merge(present)
        return whole.counts.known.isEmpty ? nil : whole
    }
}

struct AnswerSpread: Sendable {
    private var bucket: SampleBucket?
    private var last: TimedReading?

    mutating func add(_ reading: TimedReading) {
        if bucket == nil { bucket = SampleBucket(start: reading.wallTime) }
        bucket?.add(reading.reading, reading.spread)
        last = reading
    }

    /// Removes the samples and returns one reading: their means, minima and maxima, with the last one's time. Nil
    /// without samples.
    mutating func take() -> TimedReading? {
        guard let bucket, var reading = last else { return nil }
        (self.bucket, last) = (nil, nil)
        guard bucket.readingCount > 1 else { return reading }
        reading.reading = bucket.roundedMeans
        reading.spread = ReadingSpread(count: bucket.readingCount, least: bucket.minima, greatest: bucket.maxima)
        return reading
    }
}

import Domain

/// Recent minima and maxima of a meter with too many samples to show one by one.
///
/// Covers the current and the previous half second, so that a viewer that updates twice a second misses nothing.
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
        present.add(reading.reading)
    }

    /// Both half seconds together; nil before the first sample.
    var whole: SampleBucket? {
        var whole = former
        whole.merge(present)
        return whole.counts.known.isEmpty ? nil : whole
    }
}

/// Summary of one answer's samples, as one reading.
struct AnswerSpread: Sendable {
    private var bucket: SampleBucket?
    private var last: TimedReading?

    mutating func add(_ reading: TimedReading) {
        if bucket == nil { bucket = SampleBucket(start: reading.wallTime) }
        bucket?.add(reading.reading)
        last = reading
    }

    /// Returns one reading with the time of the last sample and the means, minima and maxima of all samples; then
    /// removes the samples. Returns a single sample unchanged, nil without samples.
    mutating func take() -> TimedReading? {
        guard let bucket, var reading = last else { return nil }
        (self.bucket, last) = (nil, nil)
        guard bucket.readingCount > 1 else { return reading }
        reading.reading = bucket.roundedMeans
        reading.spread = ReadingSpread(count: bucket.readingCount, least: bucket.minima, greatest: bucket.maxima)
        return reading
    }
}

import Domain

/// The least and greatest of what came lately from a meter whose samples are too many to be shown one by one.
///
/// It keeps the half second that goes on and the one before, so that whoever looks twice a second misses nothing.
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

    /// What it comes to; nil before anything came.
    var whole: SampleBucket? {
        var whole = former
        whole.merge(present)
        return whole.counts.known.isEmpty ? nil : whole
    }
}

/// What the samples of one answer come to, as one reading.
struct AnswerSpread: Sendable {
    private var bucket: SampleBucket?
    private var last: TimedReading?

    mutating func add(_ reading: TimedReading) {
        if bucket == nil { bucket = SampleBucket(start: reading.wallTime) }
        bucket?.add(reading.reading)
        last = reading
    }

    /// Their means at the time of the last, with their least and greatest; the sample itself if there is one, nil without
    /// any. It is empty afterwards.
    mutating func take() -> TimedReading? {
        guard let bucket, var reading = last else { return nil }
        (self.bucket, last) = (nil, nil)
        guard bucket.readingCount > 1 else { return reading }
        reading.reading = bucket.roundedMeans
        reading.spread = ReadingSpread(count: bucket.readingCount, least: bucket.minima, greatest: bucket.maxima)
        return reading
    }
}

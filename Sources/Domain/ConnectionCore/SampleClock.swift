/// Dates a meter's samples by this host's clock, from a count of milliseconds.
///
/// The newest sample of a frame is taken just before the frame arrives, so the first frame anchors the count to the
/// host's clock. From then on the count leads and is corrected slowly towards the host's clock. So a frame that was
/// read late does not bunch its samples, and a meter with a slow clock does not run away. Times always rise.
///
/// The meter's own count wraps at 65,536. After a silence of half of that the number of wraps is unknown, so the next
/// frame is a new anchor. Where each frame counts for itself, its samples follow those of the last frame: lost samples
/// show only as a lag, which is corrected slowly.
package struct SampleClock: Hashable, Sendable {
    private struct Point: Hashable, Sendable {
        var tick: UInt16
        var time: MonotonicTime
    }

    /// The samples of the present frame lie between these two; the second is its newest.
    private var from: Point?
    private var newest: Point?
    /// Number added to the ticks of a frame that counts for itself.
    private var shift: UInt16 = 0
    private var heardAt = MonotonicTime.origin

    /// Maximum silence over which the count is followed: half its range.
    package static let silenceMax = Duration.milliseconds(32_768)
    /// Divisor of the elapsed time for the maximum correction. More than the 4.4 % by which a KM003C was seen to be
    /// slow (Docs/Protocols/KM003C.md#the-queue).
    private static let correction = 16
    /// Divisor for frames that count for themselves and arrive too early. They waited during a pause; the clock catches
    /// up soon, since no sample is taken after its arrival.
    private static let haste = 2
    /// A larger difference means that the host slept, or that the meter began to count anew.
    private static let differenceMax = Duration.seconds(1)
    /// Limit for frames that count for themselves. A longer pause counts as the meter's, not the host's. Samples that
    /// wait in the kernel meanwhile follow each other.
    package static let pauseMax = Duration.milliseconds(250)
    /// Minimum distance of samples without a count: the resolution of stored times.
    private static let apartMin = Duration.milliseconds(1)

    package init() {}

    /// - Returns: number of samples lost since the last ones or among these; 0 if unknown.
    package mutating func heard(_ ticks: SampleTicks, at now: MonotonicTime) -> Int {
        defer { heardAt = now }
        switch ticks.countedBy {
        case .meter: return heardCount(ticks, at: now)
        case .frame:
            heardFrame(ticks, at: now)
            return 0
        }
    }

    private mutating func heardCount(_ ticks: SampleTicks, at now: MonotonicTime) -> Int {
        shift = 0
        let step = Int(max(1, ticks.step))
        let within = max(0, Int(ticks.newest &- ticks.oldest) / step + 1 - ticks.count)
        guard let last = newest, now - heardAt < Self.silenceMax,
            case let gap = Int(ticks.oldest &- last.tick), (1...0x7FFF).contains(gap)
        else {
            anchor(ticks, at: now)
            return within
        }
        // Rounds to whole steps: a clock of milliseconds need not be read every ten of them exactly.
        let lost = within + max(0, (gap + step / 2) / step - 1)
        let passed = Duration.milliseconds(Int(ticks.newest &- last.tick))
        let difference = now - (last.time + passed)
        guard difference.magnitude <= Self.differenceMax else {
            anchor(ticks, at: now)
            // A count that ran ahead of time was set: nothing is missing.
            return difference < .zero ? within : lost
        }
        let most = passed / Self.correction
        go(from: last, to: ticks.newest, after: passed + min(max(difference, .zero - most), most))
        return lost
    }

    private mutating func heardFrame(_ ticks: SampleTicks, at now: MonotonicTime) {
        guard let last = newest, now - heardAt < Self.silenceMax else {
            shift = 0
            return anchor(ticks, at: now)
        }
        let step = max(1, ticks.step)
        shift = last.tick &+ step &- ticks.oldest
        let span = ticks.newest &- ticks.oldest &+ step
        let passed = Duration.milliseconds(Int(span))
        let difference = now - (last.time + passed)
        guard difference <= Self.pauseMax else {
            var shifted = ticks
            shifted.oldest &+= shift
            shifted.newest &+= shift
            return anchor(shifted, at: now)
        }
        let correction = max(min(difference, passed / Self.correction), .zero - passed / Self.haste)
        go(from: last, to: ticks.newest &+ shift, after: passed + correction)
    }

    /// Returns when the sample with this tick, among the last heard, was taken.
    package func time(of tick: UInt16) -> MonotonicTime {
        guard let from, let newest else { return heardAt }
        let whole = Int64(newest.tick &- from.tick)
        guard whole > 0 else { return newest.time }
        let part = Int64(tick &+ shift &- from.tick)
        return from.time + .nanoseconds((newest.time - from.time).nanoseconds * part / whole)
    }

    private mutating func go(from last: Point, to tick: UInt16, after passed: Duration) {
        from = last
        newest = Point(tick: tick, time: last.time + passed)
    }

    /// Starts the count here. Its samples follow the earlier ones, if need be a little ahead of the host's clock.
    private mutating func anchor(_ ticks: SampleTicks, at now: MonotonicTime) {
        let length = Duration.milliseconds(Int(ticks.newest &- ticks.oldest))
        let earliest = newest.map { $0.time + Self.apartMin } ?? .origin
        let time = max(now, earliest + Self.apartMin * max(0, ticks.count - 1))
        from = Point(tick: ticks.oldest, time: max(earliest, time - length))
        newest = Point(tick: ticks.newest, time: time)
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

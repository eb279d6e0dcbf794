/// Computes the times of a meter's samples on this host's monotonic clock from a count of milliseconds.
///
/// The newest sample of a frame is taken just before the frame arrives, so the first frame anchors the count to the
/// host's clock. Later times follow the count, corrected slowly towards the host's clock. So samples of a late frame
/// are not crowded together, and a meter with a slow clock does not drift. Times always rise.
///
/// The meter's own count wraps at 65,536. After a silence of half of that the number of wraps is unknown, so the next
/// frame is a new anchor. If each frame starts its own count, its samples follow those of the last frame: lost samples
/// cause only a lag, which is corrected slowly.
package struct SampleClock: Hashable, Sendable {
    private struct Point: Hashable, Sendable {
        var tick: UInt16
        var time: MonotonicTime
    }

    /// Start of the interpolation of the current frame's times, which ends at `newest`.
    private var from: Point?
    private var newest: Point?
    /// Number added to a frame's own ticks, so that they follow the previous frame's ticks.
    private var shift: UInt16 = 0
    private var heardAt = MonotonicTime.origin

    /// Maximum silence over which the count is usable: half its range.
    package static let silenceMax = Duration.milliseconds(32_768)
    /// Divisor of the elapsed time: a frame corrects times by at most 1/16 of it, more than the 4.4 % by which a KM003C
    /// was seen to be slow (Docs/Protocols/KM003C.md#the-queue).
    private static let correction = 16
    /// Divisor like `correction`, for frames with their own count that arrive earlier than computed. Allows a larger
    /// correction, because a sample is never taken after its arrival.
    private static let haste = 2
    /// Maximum difference between the count and the host's clock. A larger one means that the host slept or the meter
    /// restarted its count, so the frame is a new anchor.
    private static let differenceMax = Duration.seconds(1)
    /// Maximum delay of a frame with its own count. A longer delay is attributed to the meter: the frame is a new
    /// anchor. A shorter one is the host's: the samples waited in the kernel, and continue the previous frame's times.
    package static let pauseMax = Duration.milliseconds(250)
    /// Minimum time between samples at a new anchor: the resolution of stored times.
    private static let apartMin = Duration.milliseconds(1)

    package init() {}

    /// - Returns: samples lost since the previous frame or within this one; 0 if unknown.
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
        // Round, because ticks need not be exact multiples of the step.
        let lost = within + max(0, (gap + step / 2) / step - 1)
        let passed = Duration.milliseconds(Int(ticks.newest &- last.tick))
        let difference = now - (last.time + passed)
        guard difference.magnitude <= Self.differenceMax else {
            anchor(ticks, at: now)
            // If the count advanced further than the host's clock, its jump does not mean lost samples.
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

    /// - Parameter tick: of a sample in the last frame.
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

    /// Starts a new anchor. Its times may be slightly ahead of the host's clock, because they must follow the earlier
    /// samples.
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

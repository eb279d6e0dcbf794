package import MeterModel

/// Tells when a meter's samples were taken, by this host's clock, from the meter's own count of milliseconds.
///
/// The newest sample of an answer was taken just before it came, so the first answer anchors the count to the host's clock.
/// From then on the count leads, and is drawn slowly towards the host's clock: an answer that was read late does not bunch its
/// samples, and a meter whose milliseconds are some percent too long does not run away. Times never step back.
///
/// The count wraps at 65,536. After half of that without a sample nobody knows how often it did: it is anchored anew.
package struct SampleClock: Hashable, Sendable {
    private struct Point: Hashable, Sendable {
        var tick: UInt16
        var time: MonotonicTime
    }

    /// Between these two the samples of the present answer lie; the second is its newest.
    private var from: Point?
    private var newest: Point?
    /// When samples came last.
    private var heardAt = MonotonicTime.origin

    /// The longest silence over which the count is followed: half of what it counts.
    package static let silenceMax = Duration.milliseconds(32_768)
    /// Of the time that passed, the part by which it may be corrected: more than the 4.4 % by which a KM003C was seen to be
    /// slow (Docs/Protocols/KM003C.md#the-queue).
    private static let correction = 16
    /// A larger difference means that the host slept, or that the meter began to count anew.
    private static let differenceMax = Duration.seconds(1)

    package init() {}

    /// Samples came.
    ///
    /// - Returns: how many the meter took since the last ones, or among these, that did not come; 0 where it is not known.
    package mutating func heard(_ ticks: SampleTicks, at now: MonotonicTime) -> Int {
        defer { heardAt = now }
        let step = Int(max(1, ticks.step))
        let within = max(0, Int(ticks.newest &- ticks.oldest) / step + 1 - ticks.count)
        guard let last = newest, now - heardAt < Self.silenceMax,
            case let gap = Int(ticks.oldest &- last.tick), (1...0x7FFF).contains(gap)
        else {
            anchor(ticks, at: now)
            return within
        }
        let passed = Duration.milliseconds(Int(ticks.newest &- last.tick))
        let difference = now - (last.time + passed)
        if difference.magnitude > Self.differenceMax {
            anchor(ticks, at: now)
        } else {
            let most = passed / Self.correction
            from = last
            newest = Point(tick: ticks.newest, time: last.time + passed + min(max(difference, .zero - most), most))
        }
        return within + max(0, gap / step - 1)
    }

    /// When the sample with this tick, of those heard last, was taken.
    package func time(of tick: UInt16) -> MonotonicTime {
        guard let from, let newest else { return heardAt }
        let whole = Int64(newest.tick &- from.tick)
        guard whole > 0 else { return newest.time }
        let part = Int64(tick &- from.tick)
        return from.time + .nanoseconds((newest.time - from.time).nanoseconds * part / whole)
    }

    private mutating func anchor(_ ticks: SampleTicks, at now: MonotonicTime) {
        let before = newest?.time ?? .origin
        let length = Duration.milliseconds(Int(ticks.newest &- ticks.oldest))
        from = Point(tick: ticks.oldest, time: max(before, now - length))
        newest = Point(tick: ticks.newest, time: max(before, now))
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

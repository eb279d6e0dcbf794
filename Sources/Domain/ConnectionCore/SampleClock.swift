/// Tells when a meter's samples were taken, by this host's clock, from a count of milliseconds.
///
/// The newest sample of a frame was taken just before it came, so the first frame anchors the count to the host's clock.
/// From then on the count leads, and is drawn slowly towards the host's clock: a frame that was read late does not bunch its
/// samples, and a meter whose milliseconds are some percent too long does not run away. Times always rise.
///
/// The meter's own count wraps at 65,536. After half of that without a sample nobody knows how often it did: it is anchored anew.
/// Where each frame counts for itself, the samples of one are taken to follow those of the last: what did not come does not show,
/// but as a lag that is drawn in.
package struct SampleClock: Hashable, Sendable {
    private struct Point: Hashable, Sendable {
        var tick: UInt16
        var time: MonotonicTime
    }

    /// Between these two the samples of the present frame lie; the second is its newest.
    private var from: Point?
    private var newest: Point?
    /// What is added to the ticks of a frame that counts for itself.
    private var shift: UInt16 = 0
    /// When samples came last.
    private var heardAt = MonotonicTime.origin

    /// The longest silence over which the count is followed: half of what it counts.
    package static let silenceMax = Duration.milliseconds(32_768)
    /// Of the time that passed, the part by which it may be corrected: more than the 4.4 % by which a KM003C was seen to be
    /// slow (Docs/Protocols/KM003C.md#the-queue).
    private static let correction = 16
    /// The same for frames that count for themselves and came earlier than they should: they waited to be read after a pause,
    /// and are caught up with soon, since no sample is taken after it came.
    private static let haste = 2
    /// A larger difference means that the host slept, or that the meter began to count anew.
    private static let differenceMax = Duration.seconds(1)
    /// The same for frames that count for themselves: a longer pause is taken for one of the meter, and not of the host. The samples
    /// that wait in the kernel meanwhile come behind one another.
    package static let pauseMax = Duration.milliseconds(250)
    /// How far apart samples are put at least where the count says nothing: what a stored time can tell apart.
    private static let apartMin = Duration.milliseconds(1)

    package init() {}

    /// Samples came.
    ///
    /// - Returns: how many the meter took since the last ones, or among these, that did not come; 0 where it is not known.
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
        // To the nearest number of steps: a clock of milliseconds need not be read every ten of them exactly.
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

    /// When the sample with this tick, of those heard last, was taken.
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

    /// The count begins here. Its samples lie behind those before them, a little ahead of the host's clock if need be.
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

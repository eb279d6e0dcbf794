/// One look at the cloud's clock: what it said, and the local clock before and after.
package struct ClockSample: Hashable, Sendable {
    /// The cloud's wall clock when it answered, milliseconds since 1970.
    package var serverTime: UInt64
    /// This host's wall clock when the answer arrived.
    package var localTime: WallTime
    /// Time from the request to the answer, on the boot-time clock.
    package var roundTrip: Duration

    package init(serverTime: UInt64, localTime: WallTime, roundTrip: Duration) {
        self.serverTime = serverTime
        self.localTime = localTime
        self.roundTrip = roundTrip
    }
}

/// How far this host's wall clock is behind the cloud's, and how certain that is.
package struct ServerOffset: Hashable, Sendable {
    /// Add it to the local wall clock to get the cloud's. Positive if the local clock is behind.
    package var offset: Duration
    /// Half the round trip, because nobody knows when in between the cloud looked at its clock.
    package var error: Duration
    var measuredAt: MonotonicTime

    package init(_ sample: ClockSample, at now: MonotonicTime) {
        error = max(sample.roundTrip, .zero) / 2
        let server = Int64(clamping: sample.serverTime)
        let (difference, overflow) = server.subtractingReportingOverflow(sample.localTime.millisecondsSince1970)
        offset = .milliseconds(overflow ? .max : difference) + error
        measuredAt = now
    }

    /// Whether a newer measurement should replace this one: it is sharper, this one is old, or they contradict each
    /// other (a clock stepped).
    package func isOutdone(by newer: ServerOffset) -> Bool {
        newer.error <= error || newer.measuredAt - measuredAt >= .seconds(600)
            || abs(newer.offset - offset) > newer.error + error
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}

/// The cloud's clock, and what the store has been told of it.
struct CloudClock: Hashable, Sendable {
    private(set) var offset: ServerOffset?
    /// The offset as the store was last told, if it was.
    private var told: Duration?

    mutating func measure(_ sample: ClockSample, at now: MonotonicTime) {
        let measured = ServerOffset(sample, at: now)
        if offset?.isOutdone(by: measured) ?? true { offset = measured }
    }

    mutating func storeWasTold(_ offset: Duration) { told = offset }

    /// The store must be told again.
    mutating func startOver() { told = nil }

    /// The offset to tell the store, if it is not within `step` of the one that the store has.
    func news(beyond step: Duration) -> Duration? {
        guard let offset = offset?.offset else { return nil }
        guard let told else { return offset }
        let difference = offset - told
        return difference > step || difference < .zero - step ? offset : nil
    }
}

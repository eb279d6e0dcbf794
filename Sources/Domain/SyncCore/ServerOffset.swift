/// Measurement of the cloud's wall clock.
package struct ClockSample: Hashable, Sendable {
    /// The cloud's wall clock when it answered, milliseconds since 1970.
    package var serverTime: UInt64
    package var localTime: WallTime
    /// Time from request to answer, on the boot-time clock.
    package var roundTrip: Duration

    package init(serverTime: UInt64, localTime: WallTime, roundTrip: Duration) {
        self.serverTime = serverTime
        self.localTime = localTime
        self.roundTrip = roundTrip
    }
}

/// Difference between the cloud's wall clock and this host's.
package struct ServerOffset: Hashable, Sendable {
    /// Cloud's time minus this host's time.
    package var offset: Duration
    /// Maximum error of `offset`: half the round trip.
    package var error: Duration
    var measuredAt: MonotonicTime

    package init(_ sample: ClockSample, at now: MonotonicTime) {
        error = max(sample.roundTrip, .zero) / 2
        let server = Int64(clamping: sample.serverTime)
        let (difference, overflow) = server.subtractingReportingOverflow(sample.localTime.millisecondsSince1970)
        offset = .milliseconds(overflow ? .max : difference) + error
        measuredAt = now
    }

    /// Whether the newer measurement has a smaller error, this one is 10 min old, or they contradict each other because
    /// a clock stepped.
    package func isOutdone(by newer: ServerOffset) -> Bool {
        newer.error <= error || newer.measuredAt - measuredAt >= .seconds(600)
            || abs(newer.offset - offset) > newer.error + error
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}

struct CloudClock: Hashable, Sendable {
    private(set) var offset: ServerOffset?
    private var told: Duration?

    mutating func measure(_ sample: ClockSample, at now: MonotonicTime) {
        let measured = ServerOffset(sample, at: now)
        if offset?.isOutdone(by: measured) ?? true { offset = measured }
    }

    mutating func storeWasTold(_ offset: Duration) { told = offset }

    mutating func startOver() { told = nil }

    /// Returns the clock offset to store; nil if unknown, or within `step` of the one last stored.
    func news(beyond step: Duration) -> Duration? {
        guard let offset = offset?.offset else { return nil }
        guard let told else { return offset }
        let difference = offset - told
        return difference > step || difference < .zero - step ? offset : nil
    }
}

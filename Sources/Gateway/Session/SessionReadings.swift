import Domain
import GatewayAPI
import Logging
import MeterCodec

struct SessionReadings {
    /// Readings for viewers; of a fast meter, one summary of each answer.
    let shown: Feed<TimedReading>
    let samples: Feed<TimedReading>
    private let track: SampleBuffer
    private let recording: RecordingTrack?
    private let counting: EnergyTrack?
    private let alerts: AlertTrack?
    /// Receives the readings of `shown`; nil if no meter is computed from others.
    private let heard: ((TimedReading) -> Void)?

    private(set) var counters = MeterStatus.Counters()
    private(set) var latest = LatestReadings()
    private(set) var spoilt = DecodeErrors()
    private(set) var told = TelemetryFrames()
    private(set) var sampling = MeterSampling()
    private var clock = SampleClock()
    /// Latest minima and maxima; kept only for a fast meter.
    private(set) var recent = RecentSpread()
    private var answer = AnswerSpread()
    /// Arrival time of the frame that waits for the next one to confirm it; nil if none waits.
    private var heldAt: (time: MonotonicTime, wall: WallTime)?
    /// USB PD events on the CC line since meterd started; empty if the model does not receive them.
    private(set) var powerDelivery = PDTimeline()

    init(
        shown: Feed<TimedReading>, samples: Feed<TimedReading>, track: SampleBuffer, recording: RecordingTrack?,
        counting: EnergyTrack?, alerts: AlertTrack?, heard: ((TimedReading) -> Void)? = nil
    ) {
        self.shown = shown
        self.samples = samples
        self.track = track
        self.recording = recording
        self.counting = counting
        self.alerts = alerts
        self.heard = heard
    }

    var counted: EnergyCount? { counting?.count }

    // MARK: Links, leases, rules

    mutating func linkCameUp() { counters.connects += 1 }

    mutating func linkWasLost() { counters.disconnects += 1 }

    /// - Parameter wasUp: whether the link was up; a recording then gets a gap.
    mutating func linkEnded(wasUp: Bool) {
        if wasUp { recording?.linkLost() }
        clock = SampleClock()
    }

    mutating func exchangeBegan() { powerDelivery.linkBegan() }

    /// - Parameter token: fencing token of this host's lease; 0 without a lease.
    func leased(_ token: UInt64, at wall: WallTime) {
        recording?.leased(token)
        if token != 0 { counting?.leased(token, at: wall) }
    }

    func adopt(_ rules: RecordingRules) {
        recording?.apply(rules)
        counting?.adopt(stepMax: rules.stepMax)
    }

    /// Adopts the resolution of the meter's counters. An electronic load reveals it only by its answers.
    func adopt(_ profile: MeterProfile?) {
        if let profile { counting?.adopt(profile.counterSteps) }
    }

    /// Forgets the values of earlier frames, except the last reading.
    ///
    /// - Parameter isIdentified: whether earlier frames were decoded as another model's, so that their telemetry and
    ///   error count are wrong, too.
    mutating func modelChanged(isIdentified: Bool) {
        latest.forgetParts()
        guard isIdentified else { return }
        spoilt = DecodeErrors()
        told.forget()
    }

    /// Adopts the sampling now in use. Returns whether the request interval changed.
    mutating func follow(_ now: MeterSampling, _ logger: Logger) -> Bool {
        guard now != sampling else { return false }
        let before = sampling
        sampling = now
        if now.rate != before.rate {
            clock = SampleClock()
            recent = RecentSpread()
            track.keepWhole()
            logger.info("sampling rate changed", metadata: ["rate": "\(now.rate.map { "\($0)/s" } ?? "on request")"])
        }
        if let failure = now.failure, failure != before.failure {
            logger.warning("sampling rate refused", metadata: ["cause": "\(failure)"])
        }
        return now.requestInterval != before.requestInterval
    }

    // MARK: Answers

    mutating func answerEnded() { spoilt.ended() }

    /// - Parameter partial: number of received bytes of the incomplete answer.
    mutating func answerIsOverdue(partial: Int) {
        counters.timeouts += 1
        counters.skipped_bytes += partial
        if partial > 0 { spoilt.skipped(because: .truncated(have: partial)) }
        spoilt.ended()
    }

    /// Handles a frame's data besides readings, even while its readings wait for the next frame to confirm them.
    mutating func came(_ frame: Frame, hearsPD: Bool, at wall: WallTime) {
        spoilt.wasGood()
        told.add(frame)
        if hearsPD, let report = frame.powerDelivery { powerDelivery.add(report, at: wall) }
    }

    mutating func wasRejected() { counters.rejected += 1 }

    mutating func skipped(_ count: Int, because error: CodecError) {
        counters.skipped_bytes += count
        counters.resynchronisations += 1
        spoilt.skipped(because: error)
    }

    mutating func filtered(_ count: Int) { counters.filtered_samples = (counters.filtered_samples ?? 0) + count }

    mutating func held(at now: MonotonicTime, _ wall: WallTime) { heldAt = (now, wall) }

    /// Publishes a confirmed frame with its arrival time; `onData` as for `add`.
    mutating func addHeld(_ frame: Frame, at now: MonotonicTime, _ wall: WallTime, onData: () -> Void) {
        let moment = heldAt ?? (now, wall)
        add(frame, at: moment.time, moment.wall, onData: onData)
    }

    /// - Parameter onData: called before the first reading; must not access this `SessionReadings`.
    mutating func add(_ frame: Frame, at now: MonotonicTime, _ wall: WallTime, onData: () -> Void) {
        var hasData = false
        let (group, spread) = (frame.countingGroup, frame.spread)
        if let ticks = frame.sampleTicks { samplesCame(ticks, at: now, areFolded: spread != nil) }
        frame.forEachSample { reading, tick in
            if !hasData {
                hasData = true
                onData()
            }
            let time = tick.map { clock.time(of: $0) } ?? now
            publish(
                TimedReading(wallTime: wall + (time - now), time: time, reading: reading, spread: spread, group: group))
        }
        if let reading = answer.take() { show(reading) }
    }

    /// Handles samples with the meter's timestamps. Of a fast meter, the store receives one bucket per second, or all
    /// samples during a recording (Docs/Decisions/0033-samples-of-fast-meters.md).
    ///
    /// - Parameter areFolded: whether each sample is itself the mean of faster ones, whose extremes only the buckets
    ///   keep.
    private mutating func samplesCame(_ ticks: SampleTicks, at now: MonotonicTime, areFolded: Bool) {
        let lost = clock.heard(ticks, at: now) + ticks.lost
        if lost > 0 { counters.lost_samples = (counters.lost_samples ?? 0) + lost }
        guard isFast || areFolded else { return }
        if recording?.hasRecording == true { track.keepWhole() } else { track.keepSeconds() }
    }

    private var isFast: Bool { (sampling.rate ?? 0) > SampleBuffer.wholeRateMax }

    /// Adds the energy count before passing on a reading, so that all consumers see the same count.
    private mutating func publish(_ measured: TimedReading) {
        let reading = counting?.count(measured) ?? measured
        counters.readings += 1
        latest.add(reading)
        track.append(reading.wallTime, reading.reading, reading.spread)
        recording?.append(reading) { told.body }
        if let alerts {
            var reading = reading
            reading.reading = reading.reading.withTotals
            alerts.append(reading)
        }
        if samples.hasListeners { samples.yield(reading) }
        guard isFast else { return show(reading) }
        recent.add(reading)
        if shown.hasListeners || heard != nil { answer.add(reading) }
    }

    private func show(_ reading: TimedReading) {
        if shown.hasListeners { shown.yield(reading) }
        heard?(reading)
    }
}

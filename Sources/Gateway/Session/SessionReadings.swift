import Domain
import GatewayAPI
import Logging
import MeterCodec

/// What a meter's frames come to: its readings, for all who take them, and what it tells besides.
struct SessionReadings {
    /// Readings as they come; of a meter that samples too fast for that, what each answer comes to.
    let shown: Feed<TimedReading>
    /// The same, and each sample of every meter.
    let samples: Feed<TimedReading>
    private let track: SampleBuffer
    private let recording: RecordingTrack?
    private let counting: EnergyTrack?
    private let alerts: AlertTrack?

    private(set) var counters = MeterStatus.Counters()
    private(set) var latest = LatestReadings()
    private(set) var spoilt = SpoiltAnswers()
    private(set) var told = ToldFrames()
    /// How the meter samples by its own clock, if it does.
    private(set) var sampling = MeterSampling()
    private var clock = SampleClock()
    /// What came within the last second of a meter whose samples are too many to be shown one by one.
    private(set) var recent = RecentSpread()
    /// What the present answer of such a meter comes to, for those who watch.
    private var answer = AnswerSpread()
    /// When the frame came that waits for the next one.
    private var heldAt: (time: MonotonicTime, wall: WallTime)?
    /// What was heard on the meter's CC line, while meterd runs; empty for a model that hears nothing.
    private(set) var powerDelivery = PDTimeline()

    init(
        shown: Feed<TimedReading>, samples: Feed<TimedReading>, track: SampleBuffer, recording: RecordingTrack?,
        counting: EnergyTrack?, alerts: AlertTrack?
    ) {
        self.shown = shown
        self.samples = samples
        self.track = track
        self.recording = recording
        self.counting = counting
        self.alerts = alerts
    }

    /// What was counted of the meter, if this host counts.
    var counted: EnergyCount? { counting?.count }

    // MARK: Links, leases, rules

    mutating func linkCameUp() { counters.connects += 1 }

    mutating func linkWasLost() { counters.disconnects += 1 }

    /// - Parameter wasUp: it is a gap of a recording.
    mutating func linkEnded(wasUp: Bool) {
        if wasUp { recording?.linkLost() }
        clock = SampleClock()
    }

    /// The meter is asked over a link that was set up.
    mutating func exchangeBegan() { powerDelivery.linkBegan() }

    /// The meter is held with this token from now on; 0: without a lease.
    func leased(_ token: UInt64, at wall: WallTime) {
        recording?.leased(token)
        if token != 0 { counting?.leased(token, at: wall) }
    }

    func adopt(_ rules: RecordingRules) {
        recording?.apply(rules)
        counting?.adopt(stepMax: rules.stepMax)
    }

    /// How finely the meter tells its counters: a load shows it by its answers.
    func adopt(_ profile: MeterProfile?) {
        if let profile { counting?.adopt(profile.counterSteps) }
    }

    /// Another model has other frames. The last reading stays, as it was measured.
    ///
    /// - Parameter isIdentified: what came before was read as another model's.
    mutating func modelChanged(isIdentified: Bool) {
        latest.forgetParts()
        guard isIdentified else { return }
        spoilt = SpoiltAnswers()
        told.forget()
    }

    /// Puts in force how the meter samples now.
    ///
    /// - Returns: whether it has to be asked at another interval.
    mutating func follow(_ now: MeterSampling, _ logger: Logger) -> Bool {
        guard now != sampling else { return false }
        let before = sampling
        sampling = now
        if now.rate != before.rate {
            clock = SampleClock()
            recent = RecentSpread()
            track.keepWhole()
            logger.info("the meter samples", metadata: ["rate": "\(now.rate.map { "\($0)/s" } ?? "as it is asked")"])
        }
        if let failure = now.failure, failure != before.failure {
            logger.warning("the meter does not sample at the rate asked for", metadata: ["cause": "\(failure)"])
        }
        return now.requestInterval != before.requestInterval
    }

    // MARK: Answers

    /// The present answer is over: the next is asked for, or came, or its rest is overdue.
    mutating func answerEnded() { spoilt.ended() }

    /// - Parameter partial: how many bytes of the answer came.
    mutating func answerIsOverdue(partial: Int) {
        counters.timeouts += 1
        counters.skipped_bytes += partial
        if partial > 0 { spoilt.skipped(because: .truncated(have: partial)) }
        spoilt.ended()
    }

    /// A good frame, which may wait for the next one before it is a reading.
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

    /// The frame waits until the next one confirms it.
    mutating func held(at now: MonotonicTime, _ wall: WallTime) { heldAt = (now, wall) }

    /// - Parameter onData: called before the first reading of the frame, if there is any; not to touch what this holds.
    mutating func addHeld(_ frame: Frame, at now: MonotonicTime, _ wall: WallTime, onData: () -> Void) {
        let moment = heldAt ?? (now, wall)
        add(frame, at: moment.time, moment.wall, onData: onData)
    }

    /// Takes the readings of a frame. One without a measurement, such as "ok", answers a request but is not data.
    ///
    /// - Parameter onData: called before the first reading of the frame, if there is any; not to touch what this holds.
    mutating func add(_ frame: Frame, at now: MonotonicTime, _ wall: WallTime, onData: () -> Void) {
        var hasData = false
        let group = frame.countingGroup
        if let ticks = frame.sampleTicks { samplesCame(ticks, at: now) }
        frame.forEachSample { reading, tick in
            if !hasData {
                hasData = true
                onData()
            }
            guard let tick else {
                return publish(TimedReading(wallTime: wall, time: now, reading: reading, group: group))
            }
            let time = clock.time(of: tick)
            publish(TimedReading(wallTime: wall + (time - now), time: time, reading: reading, group: group))
        }
        if let reading = answer.take() { shown.yield(reading) }
    }

    /// Samples follow that have times of their own. Of many a second the store gets the seconds, and all of them while a recording
    /// goes on (Docs/Decisions/0033-samples-of-fast-meters.md).
    private mutating func samplesCame(_ ticks: SampleTicks, at now: MonotonicTime) {
        let lost = clock.heard(ticks, at: now)
        if lost > 0 { counters.lost_samples = (counters.lost_samples ?? 0) + lost }
        guard isFast else { return }
        if recording?.hasRecording == true { track.keepWhole() } else { track.keepSeconds() }
    }

    /// Whether its readings are too many to be kept and shown one by one.
    private var isFast: Bool { (sampling.rate ?? 0) > SampleBuffer.wholeRateMax }

    /// From here on a reading has what was counted of its meter, so that all who take it see the same.
    private mutating func publish(_ measured: TimedReading) {
        let reading = counting?.count(measured) ?? measured
        counters.readings += 1
        latest.add(reading)
        track.append(reading.wallTime, reading.reading)
        recording?.append(reading) { told.body }
        if let alerts {
            var reading = reading
            reading.reading = reading.reading.withTotals
            alerts.append(reading)
        }
        if samples.hasListeners { samples.yield(reading) }
        guard isFast else {
            if shown.hasListeners { shown.yield(reading) }
            return
        }
        recent.add(reading)
        if shown.hasListeners { answer.add(reading) }
    }
}

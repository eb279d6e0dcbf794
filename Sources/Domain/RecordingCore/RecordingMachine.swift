/// Decides when a meter's recording begins and ends, and integrates charge and energy.
///
/// ```
///          start, or above the threshold for its hold time
///   idle ────────────────────────────────────────────────▶ recording
///        ◀────────────────────────────────────────────────
///          any recording:              stop
///          begun by the threshold:     below the threshold for its hold time, or silent for too long
///          battery test:               cut-off met for its hold time, or silent for too long
/// ```
///
/// A lost link, a meter without power and a restart of meterd are gaps in a recording, not its end.
package struct RecordingMachine: Sendable {
    package let host: HostID
    package let meter: MeterID
    package private(set) var rules: RecordingRules
    /// Fencing token of the meter's lease; 0 without one.
    package var token: UInt64 = 0
    private var state = State.idle(nil)
    /// Whether the link was lost after the last reading.
    private var isLinkLost = false
    /// Whether the threshold is ignored until the current falls below it, because a user ended a recording.
    private var isDisarmed = false
    /// Battery test that waits for its start current; nil if none.
    private var waiting: Recording?

    private enum State: Sendable {
        /// No recording is running. `Rise`: readings since the current reached the threshold; nil while it is below.
        case idle(Rise?)
        case recording(Session)
    }

    private struct Rise: Sendable {
        var since: TimedReading
        var last: TimedReading
        var totals: RecordingTotals
    }

    private struct Session: Sendable {
        var recording: Recording
        /// Time of the last reading, or of the start before the first; nil after a restart.
        var last: MonotonicTime?
        /// Possible end: when the current fell below the threshold or a reading first met the cut-off, and the
        /// recording as of then; nil if neither.
        var fall: (since: MonotonicTime, recording: Recording)?
        var hasReading = false
    }

    package init(host: HostID, meter: MeterID, rules: RecordingRules) {
        self.host = host
        self.meter = meter
        self.rules = rules
    }

    package enum Outcome: Hashable, Sendable {
        case none
        case started(Recording)
        /// A waiting battery test began to record, under a new id.
        case begun(Recording, waitedAs: RecordingID)
        case ended(Recording)
    }

    /// Cheaper than `recording`, for use at each reading.
    package var hasRecording: Bool {
        if case .recording = state { true } else { waiting != nil }
    }

    /// The running recording or a waiting battery test.
    package var recording: Recording? {
        guard case .recording(let session) = state else { return waiting }
        return session.recording
    }

    // MARK: Events

    /// Continues a recording after a restart of meterd, or from another id of the meter.
    package mutating func resumed(_ recording: Recording, isRestart: Bool = true) {
        guard !recording.isWaiting else {
            waiting = recording
            return
        }
        var recording = recording
        if isRestart { recording.totals.restarts += 1 }
        state = .recording(Session(recording: recording, last: nil, fall: nil))
    }

    /// Removes and returns the recording, which continues under another id of the meter; nil if there is none.
    package mutating func handedOver() -> Recording? {
        defer { (state, waiting) = (.idle(nil), nil) }
        return recording
    }

    /// Begins a recording. A battery test may first wait for its start current.
    ///
    /// - Parameter test: nil for other recordings.
    /// - Returns: `none` if a recording is already running.
    package mutating func start(
        name: String?, test: BatteryTest? = nil, at wall: WallTime, _ now: MonotonicTime
    ) -> Outcome {
        guard case .idle = state, waiting == nil else { return .none }
        let recording = Recording(id: id(wall), name: name, trigger: .hand, test: test)
        guard !recording.isWaiting else {
            (waiting, state) = (recording, .idle(nil))
            return .started(recording)
        }
        state = .recording(Session(recording: recording, last: now, fall: nil))
        isLinkLost = false
        return .started(recording)
    }

    /// Ends the recording or a waiting battery test. Returns `none` if there is neither.
    package mutating func stop(at wall: WallTime, _ now: MonotonicTime) -> Outcome {
        if let recording = waiting.take() { return end(recording, .hand) }
        guard case .recording(var session) = state else { return .none }
        addGap(until: now, wall, in: &session)
        session.recording.until = max(wall, session.recording.until)
        isDisarmed = true
        return end(session.recording, .hand)
    }

    /// Returns the running or waiting recording; nil if none.
    package mutating func described(name: String?, note: String?) -> Recording? {
        guard case .recording(var session) = state else {
            waiting?.name = name
            waiting?.note = note
            return waiting
        }
        session.recording.name = name
        session.recording.note = note
        state = .recording(session)
        return session.recording
    }

    /// Stores telemetry as that of the last reading. The first telemetry also becomes that of the start.
    package mutating func told(_ told: TelemetryBody) {
        guard case .recording(var session) = state else { return }
        if session.recording.toldAtStart == nil { session.recording.toldAtStart = told }
        session.recording.toldAtEnd = told
        // Leave the copy in `fall` unchanged: it is the result if the fall ends the recording.
        state = .recording(session)
    }

    /// Returns the recording `id` if it is running and its load's state changed; otherwise nil.
    package mutating func drove(_ id: RecordingID, _ phase: LoadDrive.Phase, problem: String?) -> Recording? {
        guard case .recording(var session) = state, session.recording.id == id,
            var load = session.recording.test?.load, load.phase != phase || load.problem != problem
        else { return nil }
        (load.phase, load.problem) = (phase, problem)
        session.recording.test?.load = load
        session.fall?.recording.test?.load = load
        state = .recording(session)
        return session.recording
    }

    /// Ends the battery test. With `cutoff`, totals end when a reading first met the cut-off, if one did.
    package mutating func loadEnded(_ id: RecordingID, _ end: Recording.End) -> Outcome {
        guard case .recording(let session) = state, session.recording.id == id else { return .none }
        return self.end(end == .cutoff ? session.fall?.recording ?? session.recording : session.recording, end)
    }

    package mutating func rulesChanged(_ new: RecordingRules) -> Outcome {
        if new.threshold != rules.threshold { isDisarmed = false }
        rules = new
        switch state {
        case .idle:
            if new.threshold == nil { state = .idle(nil) }
            return .none
        case .recording(let session):
            guard session.recording.isOfThreshold, new.threshold == nil else { return .none }
            return end(session.recording, .settings)
        }
    }

    /// Handles a lost link. If the next reading arrives late enough, the time until then is a gap.
    package mutating func linkLost() { isLinkLost = true }

    /// Call in the order of the readings' monotonic times.
    package mutating func received(_ reading: TimedReading) -> Outcome {
        defer { isLinkLost = false }
        switch state {
        case .idle(let rise): return watch(reading, rise)
        case .recording(let session): return add(reading, to: session)
        }
    }

    /// Ends a battery test, or a recording begun by the threshold, after too long a silence. A test whose load draws
    /// current by itself continues.
    package mutating func woke(at wall: WallTime, _ now: MonotonicTime) -> Outcome {
        guard case .recording(let session) = state, session.recording.isOfThreshold || session.recording.test != nil,
            silence(of: session, until: now, wall) > rules.gapMax,
            session.recording.test?.load?.outlastsSilence != true
        else { return .none }
        if session.recording.test != nil { return end(session.recording, .gap) }
        return end(session.fall?.recording ?? session.recording, session.fall == nil ? .gap : .threshold)
    }

    // MARK: Idle

    private mutating func watch(_ reading: TimedReading, _ rise: Rise?) -> Outcome {
        guard let isAbove = isAbove(reading) else { return .none }
        guard isAbove, !isDisarmed || waiting != nil else {
            isDisarmed = isDisarmed && isAbove
            state = .idle(nil)
            return .none
        }
        var next = Rise(since: reading, last: reading, totals: RecordingTotals())
        if let rise, reading.time - rise.last.time <= rules.stepMax {
            (next.since, next.totals) = (rise.since, rise.totals)
            next.totals.add(reading.reading, step: reading.time - rise.last.time, rules: rules, group: reading.group)
        } else {
            next.totals.add(reading.reading, step: nil, rules: rules, group: reading.group)
        }
        guard reading.time - next.since.time >= rules.hold else {
            state = .idle(next)
            return .none
        }
        var recording = Recording(
            id: id(next.since.wallTime), trigger: .threshold, until: reading.wallTime, totals: next.totals)
        let test = waiting.take()
        if let test {
            (recording.name, recording.note, recording.test) = (test.name, test.note, test.test)
            recording.test?.isWaiting = false
        }
        state = .recording(Session(recording: recording, last: reading.time, fall: nil, hasReading: true))
        return test.map { .begun(recording, waitedAs: $0.id) } ?? .started(recording)
    }

    /// Whether the current has reached the threshold; nil without a current or a threshold.
    private func isAbove(_ reading: TimedReading) -> Bool? {
        guard let threshold = waiting?.test?.startAbove ?? rules.threshold, let current = reading.reading[.current]
        else { return nil }
        return current.magnitude >= threshold
    }

    private func id(_ start: WallTime) -> RecordingID {
        RecordingID(host: host, meter: meter, token: token, started: start)
    }

    // MARK: Recording

    private mutating func add(_ reading: TimedReading, to old: Session) -> Outcome {
        if case .ended(let recording) = woke(at: reading.wallTime, reading.time) {
            // This reading may also begin the next recording.
            _ = watch(reading, nil)
            return .ended(recording)
        }
        var session = old
        let step = session.hasReading ? session.last.map { reading.time - $0 } : nil
        addGap(until: reading.time, reading.wallTime, in: &session)
        session.recording.totals.add(reading.reading, step: step, rules: rules, group: reading.group)
        session.recording.until = max(reading.wallTime, session.recording.until)
        session.last = reading.time
        session.hasReading = true
        if let test = session.recording.test { return judge(test, reading, step, session) }
        guard session.recording.isOfThreshold, let isAbove = isAbove(reading) else {
            state = .recording(session)
            return .none
        }
        session.fall = isAbove ? nil : session.fall ?? (reading.time, session.recording)
        state = .recording(session)
        guard let fall = session.fall, reading.time - fall.since >= rules.hold else { return .none }
        return end(fall.recording, .threshold)
    }

    /// Ends the battery test once the cut-off has been met for its hold time. Totals end at the first reading that met
    /// it.
    private mutating func judge(
        _ test: BatteryTest, _ reading: TimedReading, _ step: Duration?, _ old: Session
    ) -> Outcome {
        var session = old
        // Values in a gap are unknown, so the hold time restarts.
        if step.map({ $0 > rules.stepMax }) ?? true { session.fall = nil }
        if let (value, isMet) = test.until.condition.level(in: reading.reading) {
            if !isMet {
                session.recording.test?.isArmed = true
                session.fall = nil
            } else if test.isArmed, session.fall == nil {
                session.fall = (reading.time, session.recording)
                session.fall?.recording.test?.value = value
            }
        }
        state = .recording(session)
        guard let fall = session.fall, reading.time - fall.since >= test.until.hold else { return .none }
        return end(fall.recording, .cutoff)
    }

    private func addGap(until now: MonotonicTime, _ wall: WallTime, in session: inout Session) {
        let length = silence(of: session, until: now, wall)
        guard length > rules.stepMax || session.last == nil else { return }
        let cause: RecordingGap.Cause = session.last == nil ? .host : isLinkLost ? .link : .silence
        session.recording.totals.add(
            RecordingGap(start: session.recording.until, length: length, cause: cause))
    }

    /// Duration without readings. After a restart it comes from the system clock; zero if that was set back.
    private func silence(of session: Session, until now: MonotonicTime, _ wall: WallTime) -> Duration {
        if let last = session.last { return now - last }
        let (length, overflow) = wall.millisecondsSince1970.subtractingReportingOverflow(
            session.recording.until.millisecondsSince1970)
        return overflow || length < 0 ? .zero : .milliseconds(length)
    }

    private mutating func end(_ recording: Recording, _ end: Recording.End) -> Outcome {
        var recording = recording
        recording.end = end
        state = .idle(nil)
        return .ended(recording)
    }
}

extension Recording {
    /// Whether the threshold started the recording and will end it.
    fileprivate var isOfThreshold: Bool { trigger == .threshold && test == nil }
}

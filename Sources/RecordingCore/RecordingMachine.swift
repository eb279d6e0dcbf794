package import MeterModel

/// Decides when a meter's recording begins and ends, and adds up what flows meanwhile.
///
/// ```
///          start, or above the threshold for its hold time
///   idle ────────────────────────────────────────────────▶ recording
///        ◀────────────────────────────────────────────────
///          stop; below the threshold for its hold time; silent for too long (the last two only where the threshold
///          began it)
/// ```
///
/// A link that is lost, a meter that loses its power and a host that restarts are gaps of one recording, not its end.
package struct RecordingMachine: Sendable {
    package let host: HostID
    package let meter: MeterID
    package private(set) var rules: RecordingRules
    /// Of the lease that the meter is held with; 0 without one.
    package var token: UInt64 = 0
    private var state = State.idle(nil)
    /// Since the last reading the link was lost.
    private var isLinkLost = false
    /// The threshold counts again only after the current was below it: a person ended what it had begun.
    private var isDisarmed = false

    private enum State: Sendable {
        /// The current is above the threshold since the first of these readings, not yet for long enough.
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
        /// When the last reading came, or it began without one; nil after a restart.
        var last: MonotonicTime?
        /// What it was when the current fell below the threshold; nil while it is above.
        var fall: (since: MonotonicTime, recording: Recording)?
        var hasReading = false
    }

    package init(host: HostID, meter: MeterID, rules: RecordingRules) {
        self.host = host
        self.meter = meter
        self.rules = rules
    }

    /// What happened to the recording.
    package enum Outcome: Hashable, Sendable {
        case none
        case started(Recording)
        case ended(Recording)
    }

    /// The recording that goes on, nil where none does.
    package var recording: Recording? {
        guard case .recording(let session) = state else { return nil }
        return session.recording
    }

    // MARK: Events

    /// A recording that was going on when the host went down goes on.
    package mutating func resumed(_ recording: Recording) {
        var recording = recording
        recording.totals.restarts += 1
        recording.totals.breakOff()
        let hasReading = recording.totals.readings > 0
        state = .recording(Session(recording: recording, last: nil, fall: nil, hasReading: hasReading))
    }

    /// A person begins one.
    ///
    /// - Returns: `none` where one goes on already.
    package mutating func start(name: String?, at wall: WallTime, _ now: MonotonicTime) -> Outcome {
        guard case .idle = state else { return .none }
        let recording = Recording(id: id(wall), name: name, trigger: .hand)
        state = .recording(Session(recording: recording, last: now, fall: nil))
        isLinkLost = false
        return .started(recording)
    }

    /// A person ends what goes on.
    ///
    /// - Returns: `none` where nothing does.
    package mutating func stop(at wall: WallTime, _ now: MonotonicTime) -> Outcome {
        guard case .recording(var session) = state else { return .none }
        note(gapUntil: now, wall, in: &session)
        session.recording.until = max(wall, session.recording.until)
        isDisarmed = true
        return end(session.recording, .hand)
    }

    /// A person names what goes on, or writes of it.
    ///
    /// - Returns: it, nil where nothing goes on.
    package mutating func described(name: String?, note: String?) -> Recording? {
        guard case .recording(var session) = state else { return nil }
        session.recording.name = name
        session.recording.note = note
        state = .recording(session)
        return session.recording
    }

    package mutating func rulesChanged(_ new: RecordingRules) -> Outcome {
        if new.threshold != rules.threshold { isDisarmed = false }
        rules = new
        switch state {
        case .idle:
            if new.threshold == nil { state = .idle(nil) }
            return .none
        case .recording(let session):
            guard session.recording.trigger == .threshold, new.threshold == nil else { return .none }
            return end(session.recording, .settings)
        }
    }

    /// The link was lost. What comes after it, comes after a gap if it takes long enough.
    package mutating func linkLost() { isLinkLost = true }

    /// A reading came, with its stamps. In the order of their monotonic times.
    package mutating func received(_ reading: TimedReading) -> Outcome {
        defer { isLinkLost = false }
        switch state {
        case .idle(let rise): return watch(reading, rise)
        case .recording(let session): return add(reading, to: session)
        }
    }

    /// Time passed. Ends what has been silent for too long.
    package mutating func woke(at wall: WallTime, _ now: MonotonicTime) -> Outcome {
        guard case .recording(let session) = state, session.recording.trigger == .threshold,
            silence(of: session, until: now, wall) > rules.gapMax
        else { return .none }
        return end(session.fall?.recording ?? session.recording, session.fall == nil ? .gap : .threshold)
    }

    // MARK: Idle

    private mutating func watch(_ reading: TimedReading, _ rise: Rise?) -> Outcome {
        guard let isAbove = isAbove(reading) else { return .none }
        guard isAbove, !isDisarmed else {
            isDisarmed = isDisarmed && isAbove
            state = .idle(nil)
            return .none
        }
        var next = Rise(since: reading, last: reading, totals: RecordingTotals())
        if let rise, reading.time - rise.last.time <= rules.stepMax {
            (next.since, next.totals) = (rise.since, rise.totals)
            next.totals.add(reading.reading, step: reading.time - rise.last.time, rules: rules)
        } else {
            next.totals.add(reading.reading, step: nil, rules: rules)
        }
        guard reading.time - next.since.time >= rules.hold else {
            state = .idle(next)
            return .none
        }
        let recording = Recording(
            id: id(next.since.wallTime), trigger: .threshold, until: reading.wallTime, totals: next.totals)
        state = .recording(Session(recording: recording, last: reading.time, fall: nil, hasReading: true))
        return .started(recording)
    }

    /// nil where the reading tells no current, or no threshold is set.
    private func isAbove(_ reading: TimedReading) -> Bool? {
        guard let threshold = rules.threshold, let current = reading.reading[.current] else { return nil }
        return current.magnitude >= threshold
    }

    private func id(_ start: WallTime) -> RecordingID {
        RecordingID(host: host, meter: meter, token: token, started: start)
    }

    // MARK: Recording

    private mutating func add(_ reading: TimedReading, to old: Session) -> Outcome {
        if case .ended(let recording) = woke(at: reading.wallTime, reading.time) {
            // What comes now may begin the next one.
            _ = watch(reading, nil)
            return .ended(recording)
        }
        var session = old
        let step = session.hasReading ? session.last.map { reading.time - $0 } : nil
        note(gapUntil: reading.time, reading.wallTime, in: &session)
        session.recording.totals.add(reading.reading, step: step, rules: rules)
        session.recording.until = max(reading.wallTime, session.recording.until)
        session.last = reading.time
        session.hasReading = true
        guard session.recording.trigger == .threshold, let isAbove = isAbove(reading) else {
            state = .recording(session)
            return .none
        }
        session.fall = isAbove ? nil : session.fall ?? (reading.time, session.recording)
        state = .recording(session)
        guard let fall = session.fall, reading.time - fall.since >= rules.hold else { return .none }
        return end(fall.recording, .threshold)
    }

    /// Marks the time since the last reading as a gap, where it is one.
    private func note(gapUntil now: MonotonicTime, _ wall: WallTime, in session: inout Session) {
        let length = silence(of: session, until: now, wall)
        guard length > rules.stepMax || session.last == nil else { return }
        let cause: RecordingGap.Cause = session.last == nil ? .host : isLinkLost ? .link : .silence
        session.recording.totals.add(
            RecordingGap(start: session.recording.until, length: length, cause: cause))
    }

    /// Across a restart the calendar alone can tell; where it was set back meanwhile, nobody knows, and it counts as none.
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

/// Raises and clears one rule's alert.
///
/// ```
///           the condition holds for its hold time
///   quiet ─────────────────────────────────────────▶ raised
///         ◀─────────────────────────────────────────
///           level or rate: the value is back across the limit by the hysteresis
///           state or stale: the condition no longer holds
/// ```
///
/// Hold times use the boot-time clock. An unknown value neither raises nor clears an alert. A silence longer than
/// `gapMax` restarts a hold time, because the values meanwhile are unknown. A raised alert remains raised until a value
/// clears it, even after a restart.
package struct AlertMachine: Sendable {
    /// Minimum time between two alerts, so that a value that swings around its limit does not notify every second.
    package static let pause = Duration.seconds(10)

    package let pattern: AlertPattern
    package private(set) var standing: AlertSnapshot
    /// Start of the hold time; nil if the condition does not hold, or the alert is raised.
    private var holding: Holding?
    /// End of the last alert, or time of the last event, in this process; nil if there was none.
    private var quietSince: MonotonicTime?
    private var past: Past

    private struct Holding: Sendable {
        var since: MonotonicTime
        var last: MonotonicTime
    }

    private enum Past: Sendable {
        case nothing
        case values(RateWindow)
        /// Time of the last reading or, before the first one, of the machine's creation.
        case reading(MonotonicTime)
    }

    package enum Outcome: Hashable, Sendable {
        case none
        /// - Parameter value: value that raised the alert; nil for conditions without values.
        case raised(value: Double?)
        case cleared(value: Double?)
        /// The holder changed: an event without duration.
        case happened
    }

    /// - Parameters:
    ///   - standing: state from an earlier process.
    ///   - now: start of hold times; an unfinished one of the earlier process restarts.
    package init(_ pattern: AlertPattern, _ standing: AlertSnapshot = AlertSnapshot(), at now: MonotonicTime) {
        self.pattern = pattern
        self.standing = standing
        switch pattern.condition {
        case .rate(_, _, let rate): past = .values(RateWindow(rate.window))
        case .stale: past = .reading(now)
        case .level, .state, .holderChanges, .broken: past = .nothing
        }
    }

    // MARK: Values

    /// Handles readings, in the order of their monotonic times.
    ///
    /// - Parameter gapMax: a longer silence restarts a hold time.
    package mutating func received(_ reading: TimedReading, gapMax: Duration) -> Outcome {
        switch pattern.condition {
        case .level(let quantity, let comparison, let limit):
            guard let value = quantity.alertValue(in: reading.reading) else { return .none }
            return judge(value, comparison, limit, reading, gapMax)
        case .rate(let quantity, let comparison, let rate):
            guard let value = quantity.alertValue(in: reading.reading), case .values(var window) = past else {
                return .none
            }
            let slope = window.add(value, at: reading.time, gapMax: gapMax)
            past = .values(window)
            guard let slope else { return .none }
            return judge(slope * rate.seconds, comparison, rate.limit, reading, gapMax)
        case .stale:
            past = .reading(reading.time)
            return standing.isRaised ? clear(nil, at: reading.time, reading.wallTime) : .none
        case .state, .holderChanges, .broken: return .none
        }
    }

    private mutating func judge(
        _ value: Double, _ comparison: AlertComparison, _ limit: Double, _ reading: TimedReading, _ gapMax: Duration
    ) -> Outcome {
        if standing.isRaised {
            guard comparison.isBack(value, limit, by: pattern.hysteresisInForce) else { return .none }
            return clear(value, at: reading.time, reading.wallTime)
        }
        guard comparison.holds(value, limit) else {
            holding = nil
            return .none
        }
        var present = holding ?? Holding(since: reading.time, last: reading.time)
        if reading.time - present.last > gapMax { present.since = reading.time }
        present.last = reading.time
        holding = present
        return raiseIfDue(value, at: reading.time, reading.wallTime)
    }

    // MARK: States, silence and holders

    package mutating func stateChanged(
        to state: ConnectionState, at now: MonotonicTime, _ wall: WallTime
    ) -> Outcome {
        guard case .state(let wanted, let isIt) = pattern.condition else { return .none }
        guard (state == wanted) == isIt else {
            holding = nil
            return standing.isRaised ? clear(nil, at: now, wall) : .none
        }
        guard !standing.isRaised else { return .none }
        holding = Holding(since: holding?.since ?? now, last: now)
        return raiseIfDue(nil, at: now, wall)
    }

    /// Handles the meter's present holder. A time without a holder is not a change.
    ///
    /// - Parameter holder: host id; nil if unknown, or if no host holds the meter.
    package mutating func holderIs(_ holder: String?, at now: MonotonicTime, _ wall: WallTime) -> Outcome {
        guard case .holderChanges = pattern.condition, let holder, holder != standing.holder else { return .none }
        guard standing.holder != nil else {
            standing.holder = holder
            return .none
        }
        guard !isPausing(at: now) else { return .none }
        standing.holder = holder
        standing.raisedAt = wall
        standing.count += 1
        quietSince = now
        return .happened
    }

    package mutating func woke(at now: MonotonicTime, _ wall: WallTime) -> Outcome {
        guard !standing.isRaised else { return .none }
        switch (pattern.condition, past) {
        case (.stale, .reading(let last)):
            guard now - last >= pattern.hold, !isPausing(at: now) else { return .none }
            return raise(nil, wall)
        case (.state, _): return raiseIfDue(nil, at: now, wall)
        default: return .none
        }
    }

    package var needsWaking: Bool {
        switch pattern.condition {
        case .stale, .state: true
        case .level, .rate, .holderChanges, .broken: false
        }
    }

    // MARK: Up and down

    private mutating func raiseIfDue(_ value: Double?, at now: MonotonicTime, _ wall: WallTime) -> Outcome {
        guard let holding, now - holding.since >= pattern.hold, !isPausing(at: now) else { return .none }
        return raise(value, wall)
    }

    private mutating func raise(_ value: Double?, _ wall: WallTime) -> Outcome {
        holding = nil
        standing.isRaised = true
        standing.raisedAt = wall
        standing.value = value
        standing.count += 1
        return .raised(value: value)
    }

    private mutating func clear(_ value: Double?, at now: MonotonicTime, _ wall: WallTime) -> Outcome {
        standing.isRaised = false
        standing.clearedAt = wall
        holding = nil
        quietSince = now
        return .cleared(value: value)
    }

    private func isPausing(at now: MonotonicTime) -> Bool { quietSince.map { now - $0 < Self.pause } ?? false }
}

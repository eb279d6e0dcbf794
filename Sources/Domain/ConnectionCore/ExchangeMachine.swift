/// Decides when to send a request or a command to a meter: one at a time, with a timeout, and with a gap between
/// commands so that the meter loses none.
///
/// The machine performs no I/O and reads no clock. The driver calls `turn` after each event and at `nextWake`, and
/// performs each action until `.wait`.
package struct ExchangeMachine: Sendable {
    package private(set) var rhythm: ExchangeRhythm
    private var phase = Phase.idle
    private var nextRequest: MonotonicTime
    private var quietUntil: MonotonicTime?
    private var waitingCommands = 0
    /// Whether a request precedes the next command: a series of commands must not block the readings.
    private var requestHasPrecedence = false

    /// - Parameter now: time at which the line became ready, and of the first request.
    package init(rhythm: ExchangeRhythm, at now: MonotonicTime) {
        self.rhythm = rhythm
        nextRequest = now
    }

    package enum OnTurn: Equatable, Sendable {
        case sendRequest
        case sendCommand
        /// Discard the received part of an answer that timed out.
        case giveUpAnswer
        case wait
    }

    package mutating func turn(at now: MonotonicTime) -> OnTurn {
        if case .awaitingAnswer(let since, _) = phase {
            guard now - since >= rhythm.answerTimeout else {
                if now >= nextRequest { phase = .awaitingAnswer(since: since, isLate: true) }
                return .wait
            }
            phase = .idle
            return .giveUpAnswer
        }
        if let quietUntil {
            guard now >= quietUntil else { return .wait }
            self.quietUntil = nil
        }
        let requestIsDue = rhythm.requestInterval != nil && now >= nextRequest
        if waitingCommands > 0, !(requestHasPrecedence && requestIsDue) {
            waitingCommands -= 1
            requestHasPrecedence = true
            quietUntil = now + rhythm.commandSpacing
            return .sendCommand
        }
        guard let interval = rhythm.requestInterval, requestIsDue else { return .wait }
        requestHasPrecedence = false
        // Keep the rhythm, unless more than one interval has passed.
        nextRequest = now - nextRequest < interval ? nextRequest + interval : now + interval
        if rhythm.requestsAreAnswered { phase = .awaitingAnswer(since: now, isLate: false) }
        return .sendRequest
    }

    /// Handles a valid frame or a refusal.
    package mutating func answered() {
        phase = .idle
    }

    /// Applies a new rhythm. A faster one does not wait for the next request of the slower one.
    package mutating func rhythmChanged(_ rhythm: ExchangeRhythm, at now: MonotonicTime) {
        self.rhythm = rhythm
        if let interval = rhythm.requestInterval { nextRequest = min(nextRequest, now + interval) }
    }

    package mutating func commandQueued() {
        waitingCommands += 1
    }

    /// Time of the next call of `turn`; may be too early. While an answer is pending, usually the time of the next
    /// request, not the timeout, so that the alarm need not move twice for each reading.
    package var nextWake: MonotonicTime? {
        if case .awaitingAnswer(let since, let isLate) = phase {
            let overdue = since + rhythm.answerTimeout
            return isLate ? overdue : min(overdue, nextRequest)
        }
        if waitingCommands > 0 { return quietUntil ?? .origin }
        guard rhythm.requestInterval != nil else { return nil }
        return quietUntil.map { max($0, nextRequest) } ?? nextRequest
    }

    private enum Phase: Sendable {
        case idle
        /// `isLate` becomes true once the next request is due.
        case awaitingAnswer(since: MonotonicTime, isLate: Bool)
    }
}

package struct ExchangeRhythm: Hashable, Sendable {
    /// Nil if the meter sends readings without requests.
    package var requestInterval: Duration?
    /// False if requests are only keep-alives.
    package var requestsAreAnswered: Bool
    package var answerTimeout: Duration
    package var commandSpacing: Duration

    package init(
        requestInterval: Duration?, requestsAreAnswered: Bool, answerTimeout: Duration, commandSpacing: Duration
    ) {
        self.requestInterval = requestInterval
        self.requestsAreAnswered = requestsAreAnswered
        self.answerTimeout = answerTimeout
        self.commandSpacing = commandSpacing
    }
}

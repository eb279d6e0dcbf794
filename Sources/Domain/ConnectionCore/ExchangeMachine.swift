/// Decides when to send a request or a command to a meter: only one at a time, with a timeout, and with a gap between
/// commands so that the meter loses none.
///
/// The machine performs no I/O and reads no clock. The driver calls `turn` after each event and at `nextWake`, and
/// performs each action until `.wait`.
package struct ExchangeMachine: Sendable {
    package private(set) var rhythm: ExchangeRhythm
    private var phase = Phase.idle
    private var nextRequest: MonotonicTime
    /// Time until which nothing is sent after a command.
    private var quietUntil: MonotonicTime?
    private var waitingCommands = 0
    /// Whether a request precedes the next command, so that a series of commands cannot block the readings.
    private var requestHasPrecedence = false

    /// - Parameter now: time at which the line became ready; the first request is sent immediately.
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
        // Keep the rhythm; after a pause longer than one interval, start a new rhythm.
        nextRequest = now - nextRequest < interval ? nextRequest + interval : now + interval
        if rhythm.requestsAreAnswered { phase = .awaitingAnswer(since: now, isLate: false) }
        return .sendRequest
    }

    /// Reports a valid frame or a refusal.
    package mutating func answered() {
        phase = .idle
    }

    /// Applies a new rhythm. A faster rhythm does not wait for the next request of the slower one.
    package mutating func rhythmChanged(_ rhythm: ExchangeRhythm, at now: MonotonicTime) {
        self.rhythm = rhythm
        if let interval = rhythm.requestInterval { nextRequest = min(nextRequest, now + interval) }
    }

    package mutating func commandQueued() {
        waitingCommands += 1
    }

    /// Time at which to call `turn` next; it may be too early. While an answer is pending, it is usually the time of
    /// the next request rather than the timeout. The alarm then need not move twice for each reading.
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
        /// Waiting for an answer; `isLate` once the time of the next request has passed.
        case awaitingAnswer(since: MonotonicTime, isLate: Bool)
    }
}

package struct ExchangeRhythm: Hashable, Sendable {
    /// Time between requests; nil if the meter sends readings without requests.
    package var requestInterval: Duration?
    /// Whether the meter answers requests; false if they are only keep-alives.
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

/// Decides when a request or a command goes to a meter: one at a time, with a timeout, and with a gap between commands
/// so that the meter loses none.
///
/// The machine performs no I/O and reads no clock. The driver calls `turn` after each event and at `nextWake`, and
/// performs each action until `.wait`.
package struct ExchangeMachine: Sendable {
    package private(set) var rhythm: ExchangeRhythm
    private var phase = Phase.idle
    private var nextRequest: MonotonicTime
    /// End of the silence on the line after a command.
    private var quietUntil: MonotonicTime?
    private var waitingCommands = 0
    /// Whether a due request goes before the next command, so that commands never starve the readings.
    private var requestHasPrecedence = false

    /// - Parameter now: when the line became ready; the first request is due at once.
    package init(rhythm: ExchangeRhythm, at now: MonotonicTime) {
        self.rhythm = rhythm
        nextRequest = now
    }

    package enum OnTurn: Equatable, Sendable {
        case sendRequest
        case sendCommand
        /// Discard the part that arrived: the answer timed out.
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
        // Keep the beat; after a pause longer than one interval, start a new one.
        nextRequest = now - nextRequest < interval ? nextRequest + interval : now + interval
        if rhythm.requestsAreAnswered { phase = .awaitingAnswer(since: now, isLate: false) }
        return .sendRequest
    }

    /// Called for a valid frame or a refusal.
    package mutating func answered() {
        phase = .idle
    }

    /// Applies a new rhythm. A faster one does not wait for the next beat of the slower one.
    package mutating func rhythmChanged(_ rhythm: ExchangeRhythm, at now: MonotonicTime) {
        self.rhythm = rhythm
        if let interval = rhythm.requestInterval { nextRequest = min(nextRequest, now + interval) }
    }

    package mutating func commandQueued() {
        waitingCommands += 1
    }

    /// Time of the next `turn`, perhaps too early. An answer nearly always precedes the next request, so this names the
    /// request's time and the alarm need not move twice for each reading.
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
        /// `isLate` once the next request is due.
        case awaitingAnswer(since: MonotonicTime, isLate: Bool)
    }
}

package struct ExchangeRhythm: Hashable, Sendable {
    /// Time between requests; nil if the meter sends by itself.
    package var requestInterval: Duration?
    /// False for a keep-alive, which gets no answer.
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

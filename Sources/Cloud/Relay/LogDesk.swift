import CloudAPI
import MeterModel
import Synchronization

/// The questions about meters' logs that this copy of the cloud has put to the hosts that listen here, and those that wait
/// for the answers.
final class LogDesk: Sendable {
    private struct State {
        var ledger = LogLedger()
        var waiters: [LogLedger.Key: CheckedContinuation<LogLedger.Answer?, Never>] = [:]
        /// Answers that were complete before anybody waited for them.
        var ready: [LogLedger.Key: LogLedger.Answer] = [:]
        var isClosed = false

        /// Those who wait for these answers. One that nobody waits for yet is kept for who asked.
        mutating func serve(
            _ answered: [(LogLedger.Key, LogLedger.Answer)]
        ) -> [(CheckedContinuation<LogLedger.Answer?, Never>, LogLedger.Answer)] {
            var served: [(CheckedContinuation<LogLedger.Answer?, Never>, LogLedger.Answer)] = []
            for (key, answer) in answered {
                if let waiter = waiters.removeValue(forKey: key) {
                    served.append((waiter, answer))
                } else {
                    ready[key] = answer
                }
            }
            return served
        }
    }

    private let state = Mutex(State())

    /// Puts a question to hosts. Whoever asked collects the answer with `answer(to:)`.
    ///
    /// - Throws: what `LogLedger.ask` does; `serviceUnavailable` once it is closed.
    func ask(
        _ key: LogLedger.Key, by asker: HostID, of hosts: [HostID: String], at now: MonotonicTime
    ) throws(CloudFailure) {
        try change { state throws(CloudFailure) in
            guard !state.isClosed else { throw .stopping }
            try state.ledger.ask(key, by: asker, of: hosts, at: now)
            return ((), state.ledger.takeAnswered(at: now))
        }
    }

    /// - Returns: whether somebody waits for it.
    /// - Throws: what `LogLedger.answer` does.
    func answer(
        _ key: LogLedger.Key, by host: HostID, _ part: RelayLogAnswer.Part, bytes: Int, at now: MonotonicTime
    ) throws(CloudFailure) -> Bool {
        try change { state throws(CloudFailure) in
            let isNews = try state.ledger.answer(key, by: host, part, bytes: bytes)
            return (isNews, isNews ? state.ledger.takeAnswered(at: now) : [])
        }
    }

    /// Ends what has waited long enough.
    func passed(_ now: MonotonicTime) { change { state in ((), state.ledger.takeAnswered(at: now)) } }

    /// Refuses new questions, and ends all others with what has come.
    func close() {
        change { state in
            state.isClosed = true
            return ((), state.ledger.close())
        }
    }

    /// Whether a question waits here for its answer.
    func has(_ key: LogLedger.Key) -> Bool { state.withLock { $0.ledger.has(key) } }

    /// Number of questions that are not answered, or whose answer nobody has collected.
    var count: Int { state.withLock { $0.ledger.count + $0.ready.count } }

    /// What the hosts said, once all have or the time is over. Nil if the task is cancelled.
    func answer(to key: LogLedger.Key) async -> LogLedger.Answer? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> LogLedger.Answer?? in
                    if let ready = state.ready.removeValue(forKey: key) { return .some(ready) }
                    guard !Task.isCancelled else {
                        _ = state.ledger.take(key)
                        return .some(nil)
                    }
                    state.waiters[key] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let gone = state.withLock { state in
                state.ready[key] = nil
                guard let waiter = state.waiters.removeValue(forKey: key) else {
                    return CheckedContinuation<LogLedger.Answer?, Never>?.none
                }
                _ = state.ledger.take(key)
                return waiter
            }
            gone?.resume(returning: nil)
        }
    }

    /// Changes what is known, and tells those who wait for answers that are complete by it.
    private func change<Value: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> (Value, [(LogLedger.Key, LogLedger.Answer)])
    ) throws(Failure) -> Value {
        let (value, served) = try state.withLock { state throws(Failure) in
            let (value, answered) = try body(&state)
            return (value, state.serve(answered))
        }
        for (waiter, answer) in served { waiter.resume(returning: answer) }
        return value
    }
}

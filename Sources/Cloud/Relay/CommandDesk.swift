import CloudAPI
import MeterModel
import Synchronization

/// The commands that this copy of the cloud has taken, and those that wait for what becomes of them.
final class CommandDesk: Sendable {
    private struct State {
        var ledger = CommandLedger()
        var waiters: [CommandLedger.Key: [UInt64: CheckedContinuation<RelayCommandAnswer?, Never>]] = [:]
        var nextID: UInt64 = 0
        var isClosed = false

        /// Those who wait for commands whose outcome is known now.
        mutating func served() -> [(CheckedContinuation<RelayCommandAnswer?, Never>, RelayCommandAnswer)] {
            var served: [(CheckedContinuation<RelayCommandAnswer?, Never>, RelayCommandAnswer)] = []
            for key in waiters.keys.sorted() {
                guard let outcome = ledger.outcome(key) else { continue }
                for waiter in (waiters.removeValue(forKey: key) ?? [:]).sorted(by: { $0.key < $1.key }) {
                    served.append((waiter.value, outcome))
                }
            }
            return served
        }
    }

    private let state = Mutex(State())

    /// Changes what is known, and answers those whose commands have an outcome by it.
    private func change<Value: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let (value, served) = try state.withLock { state throws(Failure) in
            let value = try body(&state)
            return (value, state.served())
        }
        for (waiter, outcome) in served { waiter.resume(returning: outcome) }
        return value
    }

    /// - Returns: whether it is new.
    /// - Throws: what `CommandLedger.take` does; `serviceUnavailable` once it is closed.
    func take(
        _ key: CommandLedger.Key, _ order: CommandLedger.Order, at now: MonotonicTime
    ) throws(CloudFailure) -> Bool {
        try change { state throws(CloudFailure) in
            guard !state.isClosed else { throw .stopping }
            return try state.ledger.take(key, order, at: now)
        }
    }

    func claim(_ key: CommandLedger.Key, by host: HostID, token: UInt64, at now: MonotonicTime) throws(CloudFailure) {
        try change { state throws(CloudFailure) in
            try state.ledger.claim(key, by: host, token: token, at: now)
        }
    }

    func answer(
        _ key: CommandLedger.Key, by host: HostID, token: UInt64, _ answer: RelayCommandAnswer, at now: MonotonicTime
    ) -> Bool {
        change { $0.ledger.answer(key, by: host, token: token, answer, at: now) }
    }

    func order(_ key: CommandLedger.Key) -> CommandLedger.Order? { state.withLock { $0.ledger.order(key) } }

    func waiting(for holder: HostID, in zone: String) -> [(CommandLedger.Key, CommandLedger.Order)] {
        state.withLock { $0.ledger.waiting(for: holder, in: zone) }
    }

    func changedHands(_ key: CommandLedger.Key, at now: MonotonicTime) {
        change { $0.ledger.changedHands(key, at: now) }
    }

    /// Ends what has waited long enough.
    func passed(_ now: MonotonicTime) { _ = change { $0.ledger.passed(now) } }

    /// Refuses new commands, and ends all others.
    func close(at now: MonotonicTime) {
        change { state in
            state.isClosed = true
            state.ledger.close(at: now)
        }
    }

    /// What becomes of a command. If the task is cancelled before that is known, the command is taken back, unless
    /// somebody else waits for it too.
    func outcome(of key: CommandLedger.Key, now: @escaping @Sendable () -> MonotonicTime) async -> RelayCommandAnswer? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> RelayCommandAnswer?? in
                    if let outcome = state.ledger.outcome(key) { return .some(outcome) }
                    guard !Task.isCancelled else { return .some(nil) }
                    state.waiters[key, default: [:]][id] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let gone = change { state -> CheckedContinuation<RelayCommandAnswer?, Never>? in
                let gone = state.waiters[key]?.removeValue(forKey: id)
                if state.waiters[key]?.isEmpty ?? true {
                    state.waiters[key] = nil
                    state.ledger.withdraw(key, at: now())
                }
                return gone
            }
            gone?.resume(returning: nil)
        }
    }
}

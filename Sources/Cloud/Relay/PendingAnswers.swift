import CloudAPI
import Domain
import Synchronization

final class PendingAnswers<Request: PendingRequest>: Sendable {
    private typealias Answer = Result<Request.Outcome, CloudFailure>
    private typealias Waiter = CheckedContinuation<Answer, Never>
    typealias Ended = PendingRequests<Request>.Ended

    private struct State {
        var requests = PendingRequests<Request>()
        var waiters: [PendingKey: [UInt64: Waiter]] = [:]
        var nextID: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    private func change<Value: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> (Value, [Ended])
    ) throws(Failure) -> Value {
        let (value, served) = try state.withLock { state throws(Failure) in
            let (value, ended) = try body(&state)
            return (
                value,
                ended.flatMap { key, outcome in
                    (state.waiters.removeValue(forKey: key) ?? [:]).sorted { $0.key < $1.key }.map {
                        ($0.value, outcome)
                    }
                }
            )
        }
        for (waiter, outcome) in served { waiter.resume(returning: .success(outcome)) }
        return value
    }

    /// Offers a request to hosts and waits for the outcome. If the task is cancelled and no other caller waits, an
    /// unclaimed request is withdrawn.
    ///
    /// - Parameter stored: number of requests of the host and the zone in the store.
    /// - Throws: the errors of `PendingRequests.take`; `serviceUnavailable` for a cancelled task, and after `close`.
    func ask(
        _ key: PendingKey, _ request: Request, stored: CommandCounts = .none,
        now: @escaping @Sendable () -> MonotonicTime, offer: () -> Void
    ) async throws(CloudFailure) -> Request.Outcome {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                begin(key, request, stored, at: now(), id, waiter, offer: offer)
            }
        } onCancel: {
            leave(key, id)
        }
        return try answer.get()
    }

    private func begin(
        _ key: PendingKey, _ request: Request, _ stored: CommandCounts, at now: MonotonicTime, _ id: UInt64,
        _ waiter: Waiter, offer: () -> Void
    ) {
        do throws(CloudFailure) {
            let isNew = try change { state throws(CloudFailure) -> (Bool, [Ended]) in
                guard !state.isClosed else { throw .stopping }
                guard !Task.isCancelled else { throw .nobodyWaits }
                let taken = try state.requests.take(key, request, stored: stored, at: now)
                state.waiters[key, default: [:]][id] = waiter
                return taken
            }
            if isNew { offer() }
        } catch {
            waiter.resume(returning: .failure(error))
        }
    }

    private func leave(_ key: PendingKey, _ id: UInt64) {
        let gone = change { state -> (Waiter?, [Ended]) in
            guard let gone = state.waiters[key]?.removeValue(forKey: id) else { return (nil, []) }
            guard state.waiters[key]?.isEmpty == true else { return (gone, []) }
            state.waiters[key] = nil
            return (gone, state.requests.giveUp(key, .withdrawn))
        }
        gone?.resume(returning: .failure(.nobodyWaits))
    }

    func request(_ key: PendingKey) -> Request? { state.withLock { $0.requests.request(key) } }

    func offered(to host: HostID, in zone: String) -> [(PendingKey, Request)] {
        state.withLock { $0.requests.offered(to: host, in: zone) }
    }

    var count: Int { state.withLock { $0.requests.count } }

    func offer(_ key: PendingKey, to host: HostID, token: UInt64, at now: MonotonicTime) -> Request? {
        state.withLock { $0.requests.offer(key, to: host, token: token, at: now) }
    }

    func claimed(_ key: PendingKey, at now: MonotonicTime) {
        state.withLock { $0.requests.claimed(key, at: now) }
    }

    /// - Returns: whether a caller waits for the answer.
    /// - Throws: the errors of `PendingRequests.answer`.
    func answer(
        _ key: PendingKey, by host: HostID, token: UInt64? = nil, _ part: Request.Part, bytes: Int = 0
    ) throws(CloudFailure) -> Bool {
        try change { state throws(CloudFailure) in
            try state.requests.answer(key, by: host, token: token, part, bytes: bytes)
        }
    }

    func changedHands(_ key: PendingKey) { change { ((), $0.requests.giveUp(key, .changedHands)) } }

    func passed(_ now: MonotonicTime) { change { ((), $0.requests.passed(now)) } }

    func close() {
        change { state in
            state.isClosed = true
            return ((), state.requests.close())
        }
    }
}

extension CloudFailure {
    fileprivate static var nobodyWaits: CloudFailure {
        CloudFailure(.serviceUnavailable, "nobody waits for the outcome any more")
    }
}

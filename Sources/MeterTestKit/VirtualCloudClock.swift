package import Cloud
package import Domain
import Synchronization

/// A cloud's clocks, which advance only when a test moves them.
package final class VirtualCloudClock: Sendable {
    private struct Sleeper {
        var until: MonotonicTime
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: MonotonicTime
        var wallNow: WallTime
        var isConfirmed = true
        var sleepers: [UInt64: Sleeper] = [:]
        var sleeps: UInt64 = 0
        var waiters: [(sleeps: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        var cancelled: Set<UInt64> = []
    }

    private let state: Mutex<State>

    package init(
        now: MonotonicTime = .origin + .seconds(1000),
        wallNow: WallTime = WallTime(millisecondsSince1970: 1_795_000_000_000)
    ) {
        state = Mutex(State(now: now, wallNow: wallNow))
    }

    package var now: MonotonicTime { state.withLock { $0.now } }
    package var wallNow: WallTime { state.withLock { $0.wallNow } }

    package var clock: CloudClock {
        CloudClock(
            now: { [self] in now }, wallNow: { [self] in wallNow },
            isConfirmed: { [self] in state.withLock { $0.isConfirmed } },
            sleep: { [self] time in try await sleep(until: time) })
    }

    package func advance(by step: Duration) {
        let due = state.withLock { state in
            state.now = state.now + step
            state.wallNow = state.wallNow + step
            let now = state.now
            let due = state.sleepers.filter { $0.value.until <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.until < $1.until }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Moves the wall clock alone, as a time server does.
    package func stepWallClock(by step: Duration) { state.withLock { $0.wallNow = $0.wallNow + step } }

    package func confirm(_ isConfirmed: Bool) { state.withLock { $0.isConfirmed = isConfirmed } }

    /// Returns once `sleeps` sleeps have begun since this clock was created. A task that sleeps in a loop has then
    /// finished the work before that sleep.
    package func began(sleeps: UInt64) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.sleeps < sleeps else { return true }
                state.waiters.append((sleeps, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func sleep(until time: MonotonicTime) async throws {
        let (id, waiters) = state.withLock { state in
            state.sleeps += 1
            let sleeps = state.sleeps
            let ready = state.waiters.filter { $0.sleeps <= sleeps }
            state.waiters.removeAll { $0.sleeps <= sleeps }
            return (sleeps, ready)
        }
        for waiter in waiters { waiter.continuation.resume() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(id, Sleeper(until: time, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func begin(_ id: UInt64, _ sleeper: Sleeper) {
        let outcome: Result<Void, any Error>? = state.withLock { state in
            if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
            if sleeper.until <= state.now { return .success(()) }
            state.sleepers[id] = sleeper
            return nil
        }
        if let outcome { sleeper.continuation.resume(with: outcome) }
    }

    private func cancel(_ id: UInt64) {
        let sleeper = state.withLock { state in
            let sleeper = state.sleepers.removeValue(forKey: id)
            if sleeper == nil { state.cancelled.insert(id) }
            return sleeper
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}

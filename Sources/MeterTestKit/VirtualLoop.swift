package import Domain
import Foundation
import Synchronization

/// An event loop whose time advances only when a test moves it. Tests therefore neither sleep nor depend on the
/// machine's load.
///
/// Work runs immediately, on the calling thread, one item at a time. Timers run inside `advance`, earliest first.
package final class VirtualLoop: SessionLoop {
    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var queue: [Work] = []
        var drainer: Thread?
        var now = MonotonicTime.origin
        var wallOffset: Int64
        var timers: [(time: MonotonicTime, id: UInt64, body: @Sendable () -> Void)] = []
        var nextTimer: UInt64 = 0
        var jobsRun = 0
        var timersRun = 0
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            let ready = waiters.filter { $0.count <= timers.count }
            waiters.removeAll { $0.count <= timers.count }
            return ready.map(\.continuation)
        }
    }

    private let state: Mutex<State>

    package init(wallStart: WallTime = WallTime(millisecondsSince1970: 1_780_000_000_000)) {
        state = Mutex(State(wallOffset: wallStart.millisecondsSince1970))
    }

    package var now: MonotonicTime { state.withLock { $0.now } }

    package var wallNow: WallTime {
        state.withLock {
            WallTime(millisecondsSince1970: $0.wallOffset + $0.now.sinceOrigin.milliseconds)
        }
    }

    /// Moves the wall clock alone, as a time server does.
    package func stepWallClock(by step: Duration) {
        state.withLock { $0.wallOffset += step.milliseconds }
    }

    /// Number of pending timers; must be 0 at the end of a test.
    package var pendingTimers: Int { state.withLock { $0.timers.count } }

    /// Number of jobs of actors and tasks so far: a measure of work.
    package var jobsRun: Int { state.withLock { $0.jobsRun } }

    package func schedule(at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) -> LoopTimer {
        let (timer, ready) = state.withLock { state in
            state.nextTimer += 1
            state.timers.append((time, state.nextTimer, body))
            return (LoopTimer(id: state.nextTimer), state.takeWaiters())
        }
        for waiter in ready { waiter.resume() }
        return timer
    }

    /// Returns once `count` timers are set.
    package func timers(reach count: Int) async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.waiters.append((count, continuation))
                return state.takeWaiters()
            }
            for waiter in ready { waiter.resume() }
        }
    }

    package func cancel(_ timer: LoopTimer) {
        state.withLock { state in state.timers.removeAll { $0.id == timer.id } }
    }

    /// Advances time and runs every timer that falls due, including new ones.
    package func advance(by duration: Duration) {
        let end = now + duration
        while let body = takeTimer(dueBy: end) { runToItsEnd(body) }
        state.withLock { $0.now = max($0.now, end) }
    }

    /// Runs `body` and waits for its end, even if another thread uses the loop, because `body` may set timers that are
    /// already due.
    private func runToItsEnd(_ body: @escaping @Sendable () -> Void) {
        // A caller on the loop would wait for itself, so its work runs after the current work item.
        guard state.withLock({ $0.drainer != Thread.current }) else { return run(.body(body)) }
        let end = DispatchSemaphore(value: 0)
        run(
            .body {
                body()
                end.signal()
            })
        end.wait()
    }

    /// Advances time by `duration`, and returns the number of timers that ran: an upper bound for a real loop's
    /// wake-ups.
    package func timersRun(in duration: Duration) -> Int {
        let before = state.withLock { $0.timersRun }
        advance(by: duration)
        return state.withLock { $0.timersRun } - before
    }

    /// Runs `body` on the loop and returns its result. Waits while another thread uses the loop. Deadlocks if called on
    /// the loop itself.
    @discardableResult
    package func result<Value: Sendable>(of body: @escaping @Sendable () -> Value) -> Value {
        let result = Mutex<Value?>(nil)
        runToItsEnd {
            let value = body()
            result.withLock { $0 = value }
        }
        guard let value = result.withLock({ $0 }) else { preconditionFailure("called on the loop itself") }
        return value
    }

    /// Runs `body` on the loop. May return before `body` has run, if another thread is running the loop's work.
    package func perform(_ body: @escaping @Sendable () -> Void) { run(.body(body)) }

    package func enqueue(_ job: consuming ExecutorJob) {
        state.withLock { $0.jobsRun += 1 }
        run(.job(UnownedJob(job)))
    }

    package func checkIsolated() {
        precondition(state.withLock { $0.drainer } == Thread.current, "not on the loop")
    }

    private func takeTimer(dueBy end: MonotonicTime) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard
                let index = state.timers.indices.min(by: {
                    (state.timers[$0].time, state.timers[$0].id) < (state.timers[$1].time, state.timers[$1].id)
                }), state.timers[index].time <= end
            else { return nil }
            let timer = state.timers.remove(at: index)
            state.timersRun += 1
            state.now = max(state.now, timer.time)
            return timer.body
        }
    }

    private func run(_ work: Work) {
        // Retain the loop: jobs do not retain their executor, and a resumed job may release it on another thread.
        let loop = Unmanaged.passRetained(self)
        defer { loop.release() }
        let mayDrain = state.withLock { state in
            state.queue.append(work)
            guard state.drainer == nil else { return false }
            state.drainer = Thread.current
            return true
        }
        guard mayDrain else { return }
        while let next = takeWork() {
            switch next {
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            case .body(let body): body()
            }
        }
    }

    private func takeWork() -> Work? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.drainer = nil
                return nil
            }
            return state.queue.removeFirst()
        }
    }
}

extension VirtualLoop {
    /// Advances time in steps of 50 ms until the task ends.
    package func advance<Value: Sendable>(until task: Task<Value, any Error>) async throws -> Value {
        let isOver = Atomic(false)
        async let watching: Void = {
            _ = await task.result
            isOver.store(true, ordering: .releasing)
        }()
        let patience = Patience("the task is over that waits for time to pass")
        while !isOver.load(ordering: .acquiring) {
            advance(by: .milliseconds(50))
            try await patience.turn()
        }
        await watching
        return try await task.value
    }
}

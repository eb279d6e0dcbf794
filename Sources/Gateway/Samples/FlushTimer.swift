import Domain
import Synchronization

/// Wakes a service at a fixed interval, and additionally for a retry.
final class FlushTimer: Sendable {
    private struct State {
        var timer: LoopTimer?
        var retry: LoopTimer?
        /// Whether a retry is pending. The timer `retry` cannot show this, because it may fire before it is assigned.
        var isRetrying = false
        var isDue = false
        var isStopped = false
    }

    private let state = Mutex(State())
    private let loop: any SessionLoop
    private let wakeUp: AsyncStream<Void>.Continuation

    init(loop: any SessionLoop, wakeUp: AsyncStream<Void>.Continuation) {
        self.loop = loop
        self.wakeUp = wakeUp
    }

    /// - Parameter isNeeded: returns false if the service has no work; the timer then wakes no thread.
    func start(every interval: Duration, while isNeeded: @escaping @Sendable () -> Bool = { true }) {
        arm(after: interval, while: isNeeded)
    }

    /// Schedules one extra wake-up, unless one is pending.
    func retry(after delay: Duration) {
        let isFirst = state.withLock { state in
            defer { state.isRetrying = true }
            return !state.isRetrying && !state.isStopped
        }
        guard isFirst else { return }
        let timer = loop.schedule(at: loop.now + delay) { [weak self] in
            self?.state.withLock { $0.isRetrying = false }
            self?.fire()
        }
        state.withLock { $0.retry = timer }
    }

    func isDue() -> Bool {
        state.withLock { state in
            defer { state.isDue = false }
            return state.isDue
        }
    }

    func stop() {
        let timers = state.withLock { state in
            state.isStopped = true
            return [state.timer, state.retry].compactMap { $0 }
        }
        for timer in timers { loop.cancel(timer) }
    }

    private func arm(after interval: Duration, while isNeeded: @escaping @Sendable () -> Bool) {
        let timer = loop.schedule(at: loop.now + interval) { [weak self] in
            if isNeeded() { self?.fire() }
            self?.arm(after: interval, while: isNeeded)
        }
        let stopped = state.withLock { state in
            state.timer = timer
            return state.isStopped
        }
        if stopped { loop.cancel(timer) }
    }

    private func fire() {
        state.withLock { $0.isDue = true }
        wakeUp.yield()
    }
}

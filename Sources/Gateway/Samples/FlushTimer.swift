import MeterModel
import Synchronization

/// Wakes the recorder when a batch is due.
final class FlushTimer: Sendable {
    private struct State {
        var timer: LoopTimer?
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

    func start(every interval: Duration) {
        arm(after: interval, then: interval)
    }

    /// Wakes once more, without changing the beat.
    func retry(after delay: Duration) {
        _ = loop.schedule(at: loop.now + delay) { [weak self] in self?.fire() }
    }

    /// Whether a beat came since the last call.
    func isDue() -> Bool {
        state.withLock { state in
            defer { state.isDue = false }
            return state.isDue
        }
    }

    func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            return state.timer
        }
        if let timer { loop.cancel(timer) }
    }

    private func arm(after delay: Duration, then interval: Duration) {
        let timer = loop.schedule(at: loop.now + delay) { [weak self] in
            self?.fire()
            self?.arm(after: interval, then: interval)
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

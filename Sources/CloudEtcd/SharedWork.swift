import Synchronization

/// Tasks that serve many callers, and continue even if the caller that began them is cancelled. `end` cancels all when
/// the engine closes.
final class SharedWork: Sendable {
    private struct State {
        var running: [UInt64: Task<Void, Never>] = [:]
        var begun: UInt64 = 0
    }

    private let state = Mutex(State())

    func begin(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let number = state.begun
            state.begun += 1
            state.running[number] = Task {
                await body()
                self.state.withLock { $0.running[number] = nil }
            }
        }
    }

    /// Cancels all tasks, including those that begin meanwhile, and waits for them.
    func end() async {
        while case let running = state.withLock({ $0.running }), !running.isEmpty {
            for task in running.values { task.cancel() }
            for task in running.values { await task.value }
        }
    }

    var isIdle: Bool { state.withLock { $0.running.isEmpty } }
}

import SimulatedCloud

/// One run of a process, from its start to its end. What it waits for ends with it, and nothing that it does after that
/// reaches anybody: its way to the network, to its store and to time is cut off.
final class Life: @unchecked Sendable {
    let world: World
    private(set) var isOver = false
    /// It was stopped for a while: what comes meanwhile is handled when it goes on.
    private(set) var isPaused = false
    private var missed: [() -> Void] = []
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var sleepers: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    private var ends: [UInt64: () -> Void] = [:]

    init(_ world: World) { self.world = world }

    /// Runs `body` at a time, unless the process has ended by then.
    func at(_ time: TrueTime, _ body: @escaping () -> Void) {
        world.at(time) { [self] in handle(body) }
    }

    private func handle(_ body: @escaping () -> Void) {
        guard !isOver else { return }
        if isPaused { missed.append(body) } else { body() }
    }

    /// Begins a task of the process.
    func spawn(_ body: @escaping @Sendable () async -> Void) {
        guard !isOver else { return }
        let id = world.nextID()
        tasks[id] = Task(executorPreference: world.thread) { [self] in
            await body()
            tasks[id] = nil
        }
    }

    /// Returns at that time.
    ///
    /// - Throws: where the task was cancelled, or the process ended, before.
    func sleep(until time: TrueTime) async throws {
        let id = world.nextID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard !isOver, !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                sleepers[id] = continuation
                at(time) { [self] in sleepers.removeValue(forKey: id)?.resume() }
            }
        } onCancel: {
            sleepers.removeValue(forKey: id)?.resume(throwing: CancellationError())
        }
    }

    /// Calls `body` where the process ends before `forget`.
    func whenOver(_ body: @escaping () -> Void) -> UInt64 {
        let id = world.nextID()
        ends[id] = body
        return id
    }

    func forget(_ id: UInt64) { ends[id] = nil }

    func pause() { isPaused = true }

    func resume() {
        isPaused = false
        let bodies = missed
        missed = []
        for body in bodies { world.at(world.now) { [self] in handle(body) } }
    }

    /// The process is killed.
    func end() {
        guard !isOver else { return }
        isOver = true
        missed = []
        for (_, body) in ends.sorted(by: { $0.key < $1.key }) { body() }
        for (_, sleeper) in sleepers.sorted(by: { $0.key < $1.key }) { sleeper.resume(throwing: CancellationError()) }
        (ends, sleepers) = ([:], [:])
        for (_, task) in tasks.sorted(by: { $0.key < $1.key }) { task.cancel() }
        world.thread.drain()
        tasks = [:]
    }
}

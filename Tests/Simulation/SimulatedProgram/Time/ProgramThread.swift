import Dispatch
import Glibc
import Synchronization

/// The one thread on which every task and actor of a run has its turns, in the order in which they became ready.
///
/// Tasks come here because it is the executor that they prefer, and their children with them; actors on a host's loop
/// because the loop hands its jobs on (`MachineLoop`). SQLite works on threads of its own: while one of its calls is
/// under way nothing else runs here, so nothing depends on how long it takes.
final class ProgramThread: TaskExecutor {
    fileprivate enum Job {
        case ofTask(UnownedJob)
        case onLoop(UnownedJob, MachineLoop)
    }

    fileprivate struct State {
        /// Made ready on this thread. Those before `next` have run.
        var ready: [Job] = []
        var next = 0
        /// Made ready by another thread, which is the end of a foreign call.
        var returned: [Job] = []
        var foreignCalls = 0
    }

    /// No call of SQLite takes so long, on a busy machine neither.
    private static let patience = DispatchTimeInterval.seconds(120)

    private let driver = pthread_self()
    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) { add(.ofTask(UnownedJob(job))) }

    /// A job of an actor on a loop.
    func enqueue(_ job: UnownedJob, on loop: MachineLoop) { add(.onLoop(job, loop)) }

    /// Runs work of which a part happens on other threads, for example in SQLite.
    func foreign<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.foreignCalls += 1 }
        defer { state.withLock { $0.foreignCalls -= 1 } }
        return try await work()
    }

    /// Runs all that is ready, and what becomes ready by it.
    func drain() {
        while let job = take() {
            switch job {
            case .ofTask(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .onLoop(let job, let loop): loop.run(job)
            }
        }
    }

    private func add(_ job: Job) {
        let isOurs = pthread_equal(driver, pthread_self()) != 0
        state.withLock { state in
            if isOurs { state.ready.append(job) } else { state.returned.append(job) }
        }
        if !isOurs { arrival.signal() }
    }

    /// - Returns: nil where nothing is ready.
    private func take() -> Job? {
        while true {
            let (job, waits) = state.withLock { $0.take() }
            if job != nil || !waits { return job }
            guard arrival.wait(timeout: .now() + Self.patience) == .success else {
                preconditionFailure("a call out of the simulation did not come back")
            }
        }
    }
}

extension ProgramThread.State {
    /// - Returns: the next job, and whether one has to be waited for.
    fileprivate mutating func take() -> (job: ProgramThread.Job?, waits: Bool) {
        if !returned.isEmpty { return (returned.removeFirst(), false) }
        guard foreignCalls == 0 else { return (nil, true) }
        guard next < ready.count else {
            ready.removeAll(keepingCapacity: true)
            next = 0
            return (nil, false)
        }
        defer { next += 1 }
        return (ready[next], false)
    }
}

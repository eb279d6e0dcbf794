import CLinux
package import Domain
import Glibc
import Synchronization

/// A thread that waits for descriptors and timers, and runs actors.
///
/// Channels and timers of an actor with this executor call it on this thread, so `assumeIsolated` succeeds in their
/// handlers. Adding work on the loop's own thread costs no system call.
package final class IOLoop: SessionLoop, @unchecked Sendable {
    // Unchecked: members marked "loop only" belong to the loop's thread. All others are safe on any thread.

    private let inbox = Mutex(Inbox())
    private let timers = Mutex(TimerHeap())
    private let thread = Atomic<UInt>(0)
    private let name: String
    /// Loop only, except for `wake`.
    private let poller: Poller
    /// Work of this turn of the loop; `arrived` is that of the next. Loop only.
    private var running: [Work] = []
    private var arrived: [Work] = []
    /// Number of `hold` calls without a `letGo`. Loop only.
    private var holds = 0

    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        var isNudged = false
        var state = State.new
        var thread: pthread_t?
    }

    private enum State { case new, running, stopping, ended }

    /// - Parameter name: name of the thread; tools show 15 bytes of it.
    package init(name: String = "io-loop") throws(Errno) {
        self.name = name
        poller = try Poller()
    }

    // MARK: Life

    package func start() {
        inbox.withLock { inbox in
            precondition(inbox.state == .new, "A loop starts once")
            inbox.state = .running
            var created = pthread_t()
            let code = pthread_create(
                &created, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<IOLoop>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, Unmanaged.passRetained(self).toOpaque())
            precondition(code == 0, "Cannot start a thread: \(Errno(code)). Raise the limit on processes (ulimit -u)")
            inbox.thread = created
        }
    }

    /// Runs pending work, then ends the thread. Call it once no actor on the loop has work left. Later work runs only
    /// while `hold` keeps the loop running. Repeated calls have no effect.
    package func shutdown() {
        precondition(!isOnLoop, "The loop's own thread cannot wait for its own end")
        let thread = inbox.withLock { inbox in
            guard inbox.state == .running else { return pthread_t?.none }
            inbox.state = .stopping
            return inbox.thread
        }
        guard let thread else { return }
        poller.wake()
        pthread_join(thread, nil)
    }

    /// Keeps the loop running, even after `shutdown`, until `letGo` was called as often as `hold`. Only on the loop,
    /// and only for a few seconds.
    package func hold() {
        checkIsolated()
        holds += 1
    }

    /// Ends a `hold`. Only on the loop.
    package func letGo() {
        checkIsolated()
        holds -= 1
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        precondition(isOnLoop, "This may only be called on the loop's thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    /// Runs `body` on the loop after this call has returned. Callable from any thread.
    package func execute(_ body: @escaping @Sendable () -> Void) {
        add(.body(body))
    }

    private var isOnLoop: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    private func add(_ work: Work) {
        if isOnLoop {
            arrived.append(work)
            return
        }
        let needsNudge = inbox.withLock { inbox in
            inbox.work.append(work)
            defer { inbox.isNudged = true }
            return !inbox.isNudged
        }
        if needsNudge { poller.wake() }
    }

    // MARK: Time

    package var now: MonotonicTime { LinuxClock.now }

    package var wallNow: WallTime { LinuxClock.wallNow }

    package func schedule(at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) -> LoopTimer {
        schedule(from: nil, at: time.sinceOrigin.nanoseconds, body)
    }

    package func schedule(
        within span: ClosedRange<MonotonicTime>, _ body: @escaping @Sendable () -> Void
    ) -> LoopTimer {
        schedule(from: span.lowerBound.sinceOrigin.nanoseconds, at: span.upperBound.sinceOrigin.nanoseconds, body)
    }

    private func schedule(from time: Int64?, at deadline: Int64, _ body: @escaping @Sendable () -> Void) -> LoopTimer {
        let (timer, isFirst) = timers.withLock { timers in
            let earliest = timers.earliest() ?? .max
            return (timers.add(from: time, at: deadline, body), deadline < earliest)
        }
        if isFirst, !isOnLoop { poller.wake() }
        return timer
    }

    package func cancel(_ timer: LoopTimer) {
        timers.withLock { timers in _ = timers.cancel(timer) }
    }

    // MARK: Descriptors

    /// Calls `handler` on the loop while the descriptor is ready (level-triggered). Only on the loop. Unregister before
    /// closing the descriptor.
    package func register(
        _ descriptor: FileDescriptor, _ interest: Readiness, _ handler: @escaping @Sendable (Readiness) -> Void
    ) throws(Errno) {
        checkIsolated()
        try poller.register(descriptor, interest, handler)
    }

    package func modify(_ descriptor: FileDescriptor, _ interest: Readiness) throws(Errno) {
        checkIsolated()
        try poller.modify(descriptor, interest)
    }

    /// Removes the handler, even for pending events. Only on the loop.
    package func unregister(_ descriptor: FileDescriptor) {
        checkIsolated()
        poller.unregister(descriptor)
    }

    // MARK: The thread

    private func run() {
        prepareThread()
        while true {
            let mayStop = takeInbox()
            runWork()
            runTimers()
            let isStopping = mayStop && holds == 0
            if isStopping, arrived.isEmpty, inbox.withLock({ $0.work.isEmpty }) { break }
            let deadline = timers.withLock { $0.earliest() }
            let isDue = deadline.map { $0 <= LinuxClock.bootNanoseconds } ?? false
            do {
                try poller.wait(until: deadline, blocking: arrived.isEmpty && !isDue && !isStopping)
            } catch {
                preconditionFailure("epoll_wait failed, which only a closed or foreign descriptor explains: \(error)")
            }
        }
        thread.store(0, ordering: .relaxed)
        inbox.withLock { $0.state = .ended }
    }

    private func prepareThread() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        cl_name_this_thread(name)
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)
    }

    private func takeInbox() -> Bool {
        inbox.withLock { inbox in
            inbox.isNudged = false
            if arrived.isEmpty {
                swap(&arrived, &inbox.work)
            } else if !inbox.work.isEmpty {
                arrived.append(contentsOf: inbox.work)
                inbox.work.removeAll(keepingCapacity: true)
            }
            return inbox.state == .stopping
        }
    }

    /// Runs the work added so far. The loop serves the descriptors before any newer work.
    private func runWork() {
        guard !arrived.isEmpty else { return }
        swap(&arrived, &running)
        let executor = asUnownedSerialExecutor()
        for work in running {
            switch work {
            case .job(let job): job.runSynchronously(on: executor)
            case .body(let body): body()
            }
        }
        running.removeAll(keepingCapacity: true)
    }

    private func runTimers() {
        let now = LinuxClock.bootNanoseconds
        let limit = timers.withLock { $0.nextNumber }
        while let body = timers.withLock({ $0.popDue(at: now, addedBefore: limit) }) { body() }
    }
}

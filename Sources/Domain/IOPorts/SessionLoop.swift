/// The thread on which sessions run, and on which their channels and timers call them.
///
/// A session is an actor on this executor, so arriving bytes are decoded and published without changing threads
/// (Docs/Decisions/0002). In tests the loop is virtual: time moves when the test says so.
package protocol SessionLoop: SerialExecutor {
    /// The boot-time clock: continues while the machine sleeps, and never jumps.
    var now: MonotonicTime { get }
    /// The calendar, which may jump at any moment.
    var wallNow: WallTime { get }
    /// Runs `body` on the loop at or soon after `time`. May be called from any thread.
    func schedule(at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) -> LoopTimer
    /// Runs `body` on the loop as soon as that wakes between two moments for anything else, or else at the second: what has
    /// time wakes nobody. May be called from any thread.
    func schedule(within span: ClosedRange<MonotonicTime>, _ body: @escaping @Sendable () -> Void) -> LoopTimer
    /// Cancels a timer. Has no effect on one that has run, or is running on another thread.
    func cancel(_ timer: LoopTimer)
}

extension SessionLoop {
    package func schedule(
        within span: ClosedRange<MonotonicTime>, _ body: @escaping @Sendable () -> Void
    ) -> LoopTimer { schedule(at: span.upperBound, body) }

    /// Returns once the loop has run a timer, which shows that it still turns.
    package func turn() async {
        await withCheckedContinuation { continuation in
            _ = schedule(at: now) { continuation.resume() }
        }
    }
}

/// The handle for `SessionLoop.cancel`.
package struct LoopTimer: Hashable, Sendable {
    package let id: UInt64

    package init(id: UInt64) { self.id = id }
}

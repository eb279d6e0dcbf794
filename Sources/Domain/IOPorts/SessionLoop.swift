/// Event loop: the one thread on which sessions, their channels and timers run.
///
/// A session is an actor on this executor, so bytes are decoded and published without changing threads
/// (Docs/Decisions/0002). In tests the loop is virtual, and the test advances the clocks.
package protocol SessionLoop: SerialExecutor {
    /// Monotonic clock, which continues during sleep and never jumps.
    var now: MonotonicTime { get }
    /// Wall-clock time, which may jump.
    var wallNow: WallTime { get }
    /// Runs `body` at or soon after `time`. May be called from any thread.
    func schedule(at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) -> LoopTimer
    /// Runs `body` at the loop's first wake-up within `span`, or at the end of `span`, to save wake-ups. May be called
    /// from any thread.
    func schedule(within span: ClosedRange<MonotonicTime>, _ body: @escaping @Sendable () -> Void) -> LoopTimer
    /// Has no effect if the timer's body has run, or is running on another thread.
    func cancel(_ timer: LoopTimer)
}

extension SessionLoop {
    package func schedule(
        within span: ClosedRange<MonotonicTime>, _ body: @escaping @Sendable () -> Void
    ) -> LoopTimer { schedule(at: span.upperBound, body) }

    /// Returns once the loop has run a timer, which shows that the loop is not stuck.
    package func turn() async {
        await withCheckedContinuation { continuation in
            _ = schedule(at: now) { continuation.resume() }
        }
    }
}

package struct LoopTimer: Hashable, Sendable {
    package let id: UInt64

    package init(id: UInt64) { self.id = id }
}

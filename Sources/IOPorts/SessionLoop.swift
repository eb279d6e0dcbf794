package import MeterModel

/// The one thread on which sessions run and on which their channels and timers call them.
///
/// A session is an actor on this executor, so that a byte that arrives is decoded and published without changing
/// threads (Docs/Decisions/0002). In tests the loop is virtual: time moves when the test says so.
package protocol SessionLoop: SerialExecutor {
    /// The boot-time clock: goes on while the machine sleeps, never steps.
    var now: MonotonicTime { get }
    /// The calendar, which may step at any moment.
    var wallNow: WallTime { get }
    /// Runs `body` on the loop at or soon after `time`. May be called from any thread.
    func schedule(at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) -> LoopTimer
    /// Takes a timer back. One that already ran, or runs just now on another thread, is none of its business.
    func cancel(_ timer: LoopTimer)
}

extension SessionLoop {
    /// Returns once the loop has run a timer: it still turns.
    package func turn() async {
        await withCheckedContinuation { continuation in
            _ = schedule(at: now) { continuation.resume() }
        }
    }
}

/// A ticket for `SessionLoop.cancel`.
package struct LoopTimer: Hashable, Sendable {
    package let id: UInt64

    package init(id: UInt64) { self.id = id }
}

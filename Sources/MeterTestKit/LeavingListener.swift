import Glibc
import LinuxIO
import Synchronization

/// Cancels each listener while it receives an event, with the sender and the canceller on different threads.
///
/// Swift holds a task's lock during its cancellation handler, and needs that lock to resume the task. If the handler
/// needs a lock under which events are sent, both threads deadlock.
///
/// - Parameter listen: starts a listener; returns its task, and a closure that sends it an event.
/// - Throws: `NeverHappened` on a deadlock.
package func leaveWhileTold(
    _ listen: () throws -> (listener: Task<Void, Never>, tell: @Sendable () -> Void)
) async throws {
    let listeners = try (0..<100).map { _ in try listen() }
    let progress = Rounds()
    BackgroundThread.run {
        for (round, (listener, tell)) in listeners.enumerated() {
            BackgroundThread.run {
                // Delay each round's cancellation a little longer, to cancel at different points of the sending.
                for _ in 0..<round * 20 { _ = progress.ended }
                listener.cancel()
                progress.end()
            }
            for _ in 0..<50 { tell() }
            while progress.ended <= round { sched_yield() }
        }
        progress.end()
    }
    try await eventually("all listeners leave while they are told something") { progress.ended > listeners.count }
}

private final class Rounds: Sendable {
    private let count = Atomic(0)

    var ended: Int { count.load(ordering: .acquiring) }

    func end() { count.add(1, ordering: .releasing) }
}

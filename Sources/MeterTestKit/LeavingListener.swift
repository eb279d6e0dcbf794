import Glibc
import LinuxIO
import Synchronization

/// Cancels each listener while it receives an event, with the sender and the canceller on different threads.
///
/// Swift holds a task's lock while its cancellation handler runs, and needs that lock to resume the task. If the
/// handler needs a lock under which events are sent, both threads deadlock. Soon all other tasks wait for them.
///
/// - Parameter listen: begins to listen; returns the listener's task, and a closure that sends it an event.
/// - Throws: `NeverHappened` on a deadlock, and the errors of `listen`.
package func leaveWhileTold(
    _ listen: () throws -> (listener: Task<Void, Never>, tell: @Sendable () -> Void)
) async throws {
    let listeners = try (0..<100).map { _ in try listen() }
    let progress = Rounds()
    BackgroundThread.run {
        for (round, (listener, tell)) in listeners.enumerated() {
            BackgroundThread.run {
                // Delay each round's cancellation a little longer, so that the rounds cancel at different points of the
                // sending.
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

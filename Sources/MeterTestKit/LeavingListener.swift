import Glibc
import LinuxIO
import Synchronization

/// Has listeners leave while they are told something, each from a thread of its own.
///
/// A task's own lock is held while its cancellation is handled, and taken to resume it. Where a listener that leaves wants
/// a lock that is held while listeners are told, both wait for ever, and so does every other task soon.
///
/// - Parameter listen: begins to listen; the listener's task, and what tells it something.
/// - Throws: `NeverHappened` where the two hold each other up, and what `listen` throws.
package func leaveWhileTold(
    _ listen: () throws -> (listener: Task<Void, Never>, tell: @Sendable () -> Void)
) async throws {
    let listeners = try (0..<100).map { _ in try listen() }
    let progress = Rounds()
    BackgroundThread.run {
        for (round, (listener, tell)) in listeners.enumerated() {
            BackgroundThread.run {
                // Somewhere within what it is told.
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

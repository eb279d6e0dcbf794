package import Domain
import LinuxIO
import Synchronization

/// Returns once `condition` holds. Other tasks run meanwhile.
///
/// - Parameter what: name of the event, for the error message.
/// - Throws: `NeverHappened` if the condition does not hold within `Patience`.
package func eventually(
    _ what: String, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let patience = Patience(what)
    while try await !condition() { try await patience.turn() }
}

/// A test's timeout for work of other tasks.
package final class Patience: Sendable {
    /// Real time to wait: longer than the busiest machine needs, and shorter than a test suite's limit.
    package static let limit = Duration.seconds(300)
    /// Minimum number of yields to other tasks before giving up. Each may take seconds, so `limit` alone could expire
    /// after few yields.
    package static let turnsMin = 10_000

    private let what: String
    private let turnsMin: Int
    private let now: @Sendable () -> MonotonicTime
    private let end: MonotonicTime
    private let turns = Atomic(0)

    package init(
        _ what: String, limit: Duration = Patience.limit, turnsMin: Int = Patience.turnsMin,
        now: @escaping @Sendable () -> MonotonicTime = { LinuxClock.now }
    ) {
        self.what = what
        self.turnsMin = turnsMin
        self.now = now
        end = now() + limit
    }

    /// Yields to other tasks.
    ///
    /// - Throws: `NeverHappened` once `limit` has passed and `turnsMin` yields were made.
    package func turn() async throws {
        let had = turns.add(1, ordering: .relaxed).oldValue
        guard had < turnsMin || now() < end else { throw NeverHappened(what: what, turns: had) }
        await Task.yield()
    }
}

package struct NeverHappened: Error, CustomStringConvertible {
    package var what: String
    package var turns: Int

    package var description: String { "waited \(turns) turns in vain: \(what)" }
}

package import Domain
import LinuxIO
import Synchronization

/// Returns once `condition` holds, letting other tasks run meanwhile.
///
/// - Parameter what: what is waited for, for the message if the test fails.
/// - Throws: `NeverHappened` if it does not hold within a test's `Patience`, and what `condition` throws.
package func eventually(
    _ what: String, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let patience = Patience(what)
    while try await !condition() { try await patience.turn() }
}

/// How long a test waits for what other tasks are about to do.
package final class Patience: Sendable {
    /// In real time: more than the busiest machine needs, and less than a suite may take.
    package static let limit = Duration.seconds(300)
    /// How often others were let run before it is in vain. Each turn is behind every test that is ready to run, some of
    /// which take seconds: minutes alone say how busy the machine is, and nothing about what is waited for.
    package static let turnsMin = 10_000

    private let what: String
    private let turnsMin: Int
    private let now: @Sendable () -> MonotonicTime
    private let end: MonotonicTime
    private let turns = Atomic(0)

    /// - Parameters:
    ///   - turnsMin: how often others are let run at least, however long that takes.
    ///   - now: the clock that the limit is of.
    package init(
        _ what: String, limit: Duration = Patience.limit, turnsMin: Int = Patience.turnsMin,
        now: @escaping @Sendable () -> MonotonicTime = { LinuxClock.now }
    ) {
        self.what = what
        self.turnsMin = turnsMin
        self.now = now
        end = now() + limit
    }

    /// Lets other tasks run.
    ///
    /// - Throws: `NeverHappened` once the limit has passed, and so many turns were had.
    package func turn() async throws {
        let had = turns.add(1, ordering: .relaxed).oldValue
        guard had < turnsMin || now() < end else { throw NeverHappened(what: what, turns: had) }
        await Task.yield()
    }
}

/// What a test waited for did not happen.
package struct NeverHappened: Error, CustomStringConvertible {
    package var what: String
    /// How often others were let run.
    package var turns: Int

    package var description: String { "waited \(turns) turns in vain: \(what)" }
}

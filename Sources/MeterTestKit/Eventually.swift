import LinuxIO
import MeterModel

/// Returns once `condition` holds, letting other tasks run meanwhile.
///
/// - Parameter what: what is waited for, for the message if the test fails.
/// - Throws: `NeverHappened` if it does not hold within `Patience.limit`, and what `condition` throws.
package func eventually(
    _ what: String, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let patience = Patience(what)
    while try await !condition() { try await patience.turn() }
}

/// How long a test waits for what other tasks are about to do.
package struct Patience: Sendable {
    /// In real time: more than the busiest machine needs, and less than a suite may take.
    package static let limit = Duration.seconds(300)

    private let what: String
    private let end = LinuxClock.now + Self.limit

    package init(_ what: String) { self.what = what }

    /// Lets other tasks run.
    ///
    /// - Throws: `NeverHappened` once the limit has passed.
    package func turn() async throws {
        guard LinuxClock.now < end else { throw NeverHappened(what: what) }
        await Task.yield()
    }
}

/// What a test waited for did not happen.
package struct NeverHappened: Error, CustomStringConvertible {
    package var what: String

    package var description: String { "waited \(Patience.limit) in vain: \(what)" }
}

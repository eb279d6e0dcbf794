import Domain
import MeterTestKit
import Synchronization
import Testing

/// How long tests wait for what other tasks are about to do.
///
/// By a clock of their own, and in few turns: with the machine's, they would fail on a busy day.
struct PatienceTests {
    /// Milliseconds that have passed.
    private final class Clock: Sendable {
        let passed = Atomic(0)
        var now: MonotonicTime { MonotonicTime.origin + .milliseconds(passed.load(ordering: .relaxed)) }
    }

    private let clock = Clock()

    private func patience() -> Patience {
        Patience("it never is", limit: .milliseconds(5), turnsMin: 3) { [clock] in clock.now }
    }

    /// However little time there is: on a busy machine a turn may take as long as a test.
    @Test func patience_isNotLost_beforeOthersHadTheirTurns() async throws {
        let patience = patience()
        clock.passed.store(5, ordering: .relaxed)
        for _ in 0..<3 { try await patience.turn() }

        let error = await #expect(throws: NeverHappened.self) { try await patience.turn() }

        #expect(error?.description == "waited 3 turns in vain: it never is")
    }

    @Test func patience_isNotLost_beforeItsTime() async throws {
        let patience = patience()
        clock.passed.store(4, ordering: .relaxed)
        for _ in 0..<10 { try await patience.turn() }
        clock.passed.store(5, ordering: .relaxed)

        await #expect(throws: NeverHappened.self) { try await patience.turn() }
    }
}

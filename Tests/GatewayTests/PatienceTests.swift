import MeterTestKit
import Testing

/// How long tests wait for what other tasks are about to do.
struct PatienceTests {
    /// However little time there is: on a busy machine a turn may take as long as a test.
    @Test func patience_isNotLost_beforeOthersHadTheirTurns() async throws {
        let patience = Patience("it never is", limit: .zero)
        for _ in 0..<Patience.turnsMin { try await patience.turn() }

        let error = await #expect(throws: NeverHappened.self) { try await patience.turn() }

        #expect(error?.description == "waited 10000 turns in vain: it never is")
    }

    @Test func patience_isNotLost_beforeItsTime() async throws {
        let patience = Patience("it is slow")
        for _ in 0...Patience.turnsMin { try await patience.turn() }
    }
}

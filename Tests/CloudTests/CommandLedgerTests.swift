import CloudAPI
import CoreTestKit
import MeterModel
import MeterTestKit
import Testing

@testable import Cloud

/// At most once, and never late.
struct CommandLedgerTests {
    private let key = CommandLedger.Key(zone: "home", requestID: .numbered(1))
    private let start = MonotonicTime.origin + .seconds(1000)

    private func order(author: UInt64 = 2, token: UInt64 = 7, holder: UInt64 = 1) -> CommandLedger.Order {
        CommandLedger.Order(
            meter: TestCloud.meter, token: token, holder: .numbered(holder), holderName: "alpha",
            author: .numbered(author), authorName: "beta", action: RelayActionBody(kind: "stopRecording"))
    }

    private func expectRefusal(
        by ledger: CommandLedger, _ body: (inout CommandLedger) throws(CloudFailure) -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var ledger = ledger
        do throws(CloudFailure) {
            try body(&ledger)
            Issue.record("it was not refused", sourceLocation: sourceLocation)
        } catch {}
    }

    @Test func command_isClaimedOnce_byItsHolder() throws {
        var ledger = CommandLedger()
        _ = try ledger.take(key, order(), at: start)
        expectRefusal(by: ledger) { ledger throws(CloudFailure) in
            _ = try ledger.claim(key, by: .numbered(3), token: 7, at: start)
        }
        expectRefusal(by: ledger) { ledger throws(CloudFailure) in
            _ = try ledger.claim(key, by: .numbered(1), token: 6, at: start)
        }
        try ledger.claim(key, by: .numbered(1), token: 7, at: start)
        expectRefusal(by: ledger) { ledger throws(CloudFailure) in
            _ = try ledger.claim(key, by: .numbered(1), token: 7, at: start)
        }
        #expect(ledger.outcome(key) == nil)
        let isNews = ledger.answer(key, by: .numbered(1), token: 7, RelayCommandAnswer(.done), at: start)
        #expect(isNews)
        #expect(ledger.outcome(key)?.outcome == .done)
        #expect(ledger.outcome(key)?.holderName == "alpha")
    }

    @Test func unclaimed_isNotDone_andCannotBeClaimedAfterwards() throws {
        var ledger = CommandLedger()
        _ = try ledger.take(key, order(), at: start)
        let late = start + CommandLedger.claimTime
        expectRefusal(by: ledger) { ledger throws(CloudFailure) in
            _ = try ledger.claim(key, by: .numbered(1), token: 7, at: late)
        }
        let ended = ledger.passed(late)
        #expect(ended == [key])
        #expect(ledger.outcome(key)?.outcome == .notDone)
    }

    @Test func claimed_withoutAnAnswer_mayHaveBeenDone() throws {
        var ledger = CommandLedger()
        _ = try ledger.take(key, order(), at: start)
        try ledger.claim(key, by: .numbered(1), token: 7, at: start + .seconds(4))
        ledger.withdraw(key, at: start + .seconds(5))
        let (early, late) = (ledger.passed(start + .seconds(13)), ledger.passed(start + .seconds(14)))
        #expect(early == [])
        #expect(late == [key])
        #expect(ledger.outcome(key)?.outcome == .timedOut)
        // What comes later changes nothing that was said.
        let isNews = ledger.answer(key, by: .numbered(1), token: 7, RelayCommandAnswer(.done), at: start + .seconds(15))
        #expect(!isNews)
    }

    @Test func holderThatSaysDone_withoutAClaim_isNotBelieved() throws {
        var ledger = CommandLedger()
        _ = try ledger.take(key, order(), at: start)
        _ = ledger.answer(key, by: .numbered(1), token: 7, RelayCommandAnswer(.done), at: start)
        #expect(ledger.outcome(key)?.outcome == .notDone)
    }

    @Test func sameCommandTwice_isOne_andAnotherUnderItsIdIsRefused() throws {
        var ledger = CommandLedger()
        let (first, second) = (try ledger.take(key, order(), at: start), try ledger.take(key, order(), at: start))
        #expect(first)
        #expect(!second)
        expectRefusal(by: ledger) { ledger throws(CloudFailure) in
            _ = try ledger.take(key, order(token: 8), at: start)
        }
    }

    @Test func outcomes_areForgotten_andOpenCommandsAreLimited() throws {
        var ledger = CommandLedger()
        for id in 0..<UInt64(CommandLedger.openPerHost) {
            _ = try ledger.take(.init(zone: "home", requestID: .numbered(id)), order(), at: start)
        }
        expectRefusal(by: ledger) { ledger throws(CloudFailure) in
            _ = try ledger.take(.init(zone: "home", requestID: .numbered(1000)), order(), at: start)
        }
        _ = try ledger.take(.init(zone: "home", requestID: .numbered(1001)), order(author: 3), at: start)
        _ = ledger.passed(start + .seconds(5))
        _ = ledger.passed(start + .seconds(65))
        #expect(ledger.count == 0)
    }

    /// Holders and authors that do anything at any time: whoever was told "not done" can rely on it.
    @Test(arguments: 0..<50)
    func walk_neverSaysNotDone_ofWhatWasClaimed(seed: Int) throws {
        var rng = SeededRNG(seed: UInt64(seed))
        var ledger = CommandLedger()
        var now = start
        var claims: [CommandLedger.Key: Int] = [:]
        var said: [CommandLedger.Key: RelayCommandAnswer.Outcome] = [:]
        for _ in 0..<2000 {
            now = now + .milliseconds(Int64.random(in: 0...1500, using: &rng))
            let key = CommandLedger.Key(zone: "home", requestID: .numbered(UInt64.random(in: 0..<40, using: &rng)))
            switch Int.random(in: 0..<7, using: &rng) {
            case 0:
                if ledger.order(key) == nil {
                    claims[key] = 0
                    said[key] = nil
                }
                _ = try? ledger.take(key, order(), at: now)
            case 1, 2:
                if (try? ledger.claim(key, by: .numbered(1), token: 7, at: now)) != nil {
                    #expect(said[key] == nil, "claimed after an outcome was known, seed \(seed)")
                    claims[key, default: 0] += 1
                }
            case 3:
                let outcomes: [RelayCommandAnswer.Outcome] = [.done, .refused, .timedOut]
                let outcome = outcomes.randomElement(using: &rng) ?? .done
                _ = ledger.answer(key, by: .numbered(1), token: 7, RelayCommandAnswer(outcome), at: now)
            case 4: ledger.withdraw(key, at: now)
            case 5: ledger.changedHands(key, at: now)
            default: _ = ledger.passed(now)
            }
            for (key, count) in claims {
                #expect(count <= 1, "claimed \(count) times, seed \(seed)")
                guard let outcome = ledger.outcome(key)?.outcome else { continue }
                #expect(said[key] == nil || said[key] == outcome, "another outcome, seed \(seed)")
                said[key] = outcome
                if outcome == .notDone { #expect(count == 0, "not done, and claimed, seed \(seed)") }
                if outcome == .done { #expect(count == 1, "done without a claim, seed \(seed)") }
            }
        }
    }
}

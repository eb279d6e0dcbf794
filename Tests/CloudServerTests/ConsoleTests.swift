import Cloud
import CloudAPI
import CloudServer
import ServerKit
import Testing

/// What the console does to a zone.
struct ConsoleTests {
    /// Each step: what is asked for, in milliseconds, and the lock-delays that apply then and were asked for.
    @Test func lockDelayThatWasAskedFor_outlivesAnyTimeToLive() async throws {
        let bench = try CloudBench()
        let console = Console(
            service: bench.service, makeToken: { BearerToken(text: "mgt_x")! }, backup: { _ in })
        var zone = try await console.zone(.createZone(name: "home", id: nil, terms: ConsoleTerms()))
        #expect([zone.lockDelay, zone.askedLockDelay] == [15_000, 15_000])
        let steps: [(asked: ConsoleTerms, delays: [Int64])] = [
            (ConsoleTerms(lockDelay: 60_000), [60_000, 60_000]), (ConsoleTerms(ttl: 60_000), [60_000, 60_000]),
            (ConsoleTerms(ttl: 600_000), [75_000, 60_000]), (ConsoleTerms(policy: "strict"), [75_000, 60_000]),
            (ConsoleTerms(ttl: 30_000), [60_000, 60_000]), (ConsoleTerms(lockDelay: 1), [3_750, 1]),
            (ConsoleTerms(ttl: 120_000), [15_000, 1]),
        ]

        for (asked, delays) in steps {
            zone = try await console.zone(.setTerms(zone: "home", terms: asked))
            #expect([zone.lockDelay, zone.askedLockDelay] == delays, "\(asked)")
        }
    }
}

extension Console {
    fileprivate func zone(_ request: ConsoleRequest) async throws -> ConsoleZone {
        guard case .zone(let zone) = try await answer(request) else {
            throw CloudFailure(.internalError, "another answer came")
        }
        return zone
    }
}

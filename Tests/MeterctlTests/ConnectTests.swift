import GatewayAPI
import Testing

@testable import meterctl

struct ConnectTests {
    private func request(_ arguments: String...) async throws -> ConnectRequest {
        let command = try await Meterctl.command(for: ["connect"] + arguments)
        return try #require(command as? Connect).request
    }

    @Test func connect_waitsForData_andAsksForNothingElse() async throws {
        #expect(try await request("bench") == ConnectRequest(wait_ms: 30_000))
    }

    @Test func connect_doesNotWait_whenDetached() async throws {
        #expect(try await request("bench", "--detach") == ConnectRequest())
    }

    @Test func takeoverAndNoLease_areAskedFor() async throws {
        #expect(try await request("bench", "--takeover").takeover == true)
        #expect(try await request("bench", "--no-lease").no_lease == true)
        #expect(try await request("bench", "--no-lease").takeover == nil)
    }

    @Test func queue_isAMinute_orAsLongAsItSays_andNeverSwallowsTheMeter() async throws {
        #expect(try await request("bench", "--queue").queue_ms == 60_000)
        #expect(try await request("--queue", "bench").queue_ms == 60_000)
        #expect(try await request("bench", "--queue=10m", "--timeout", "5s").queue_ms == 600_000)
        #expect(try await request("bench").queue_ms == nil)
    }

    @Test func queue_takesItsTimeBehindABlank_whereAMeterRemains() async throws {
        #expect(try await request("bench", "--queue", "3s").queue_ms == 3000)
        #expect(try await request("--queue", "3m", "bench").queue_ms == 180_000)
        #expect(try await request("--queue", "3m", "--timeout", "5s", "bench", "--takeover").queue_ms == 180_000)
        // The beginnings of ids, and a meter of that name.
        #expect(try await request("--queue", "25").queue_ms == 60_000)
        #expect(try await request("--queue", "3s").queue_ms == 60_000)
        #expect(try await request("--queue", "020000002500").queue_ms == 60_000)
    }

    @Test func timeout_boundsEveryWait() async throws {
        let request = try await request("bench", "--queue=10m", "--timeout", "5s")

        #expect(request.timeout_ms == 5000)
        #expect(request.wait_ms == 5000)
        let command = try #require(
            try await Meterctl.command(for: ["connect", "bench", "--queue=10m", "--timeout", "5s"]) as? Connect)
        #expect(command.patience == .seconds(6))
        let usual = try #require(try await Meterctl.command(for: ["connect", "bench", "--queue", "10m"]) as? Connect)
        #expect(usual.request.timeout_ms == nil)
        #expect(usual.patience == .seconds(640))
    }

    @Test(
        arguments: [
            (["connect", "--queue", "--", "--queue"], ["connect", "--queue=60s", "--", "--queue"]),
            (["set", "--queue"], ["set", "--queue"]), ([], []),
            (["connect", "--queue=1s"], ["connect", "--queue=1s"]),
            (["connect", "a", "--queue", "1s"], ["connect", "a", "--queue=1s"]),
            (["connect", "a", "--queue", "soon"], ["connect", "a", "--queue=60s", "soon"]),
            // What is wrong is said of what was meant.
            (["connect", "a", "--queue", "1s", "--bogus"], ["connect", "a", "--queue=1s", "--bogus"]),
        ] as [([String], [String])])
    func spelledOut_changesTheQueueOfAConnect_andNothingElse(_ arguments: [String], _ expected: [String]) async {
        #expect(await Connect.spelledOut(arguments) == expected)
    }
}

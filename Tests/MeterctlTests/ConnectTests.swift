import GatewayAPI
import Testing

@testable import meterctl

struct ConnectTests {
    private func request(_ arguments: String...) throws -> ConnectRequest {
        let command = try Meterctl.command(for: ["connect"] + arguments)
        return try #require(command as? Connect).request
    }

    @Test func connect_waitsForData_andAsksForNothingElse() throws {
        #expect(try request("bench") == ConnectRequest(wait_ms: 30_000))
    }

    @Test func connect_doesNotWait_whenDetached() throws {
        #expect(try request("bench", "--detach") == ConnectRequest())
    }

    @Test func takeoverAndNoLease_areAskedFor() throws {
        #expect(try request("bench", "--takeover").takeover == true)
        #expect(try request("bench", "--no-lease").no_lease == true)
        #expect(try request("bench", "--no-lease").takeover == nil)
    }

    @Test func queue_isAMinute_orAsLongAsItSays_andNeverSwallowsTheMeter() throws {
        #expect(try request("bench", "--queue").queue_ms == 60_000)
        #expect(try request("--queue", "bench").queue_ms == 60_000)
        #expect(try request("bench", "--queue=10m", "--timeout", "5s").queue_ms == 600_000)
        #expect(try request("bench").queue_ms == nil)
    }

    @Test(
        arguments: [
            (["connect", "--queue", "--", "--queue"], ["connect", "--queue=60s", "--", "--queue"]),
            (["set", "--queue"], ["set", "--queue"]), ([], []),
            (["connect", "--queue=1s"], ["connect", "--queue=1s"]),
        ] as [([String], [String])])
    func spelledOut_changesTheQueueOfAConnect_andNothingElse(_ arguments: [String], _ expected: [String]) {
        #expect(Connect.spelledOut(arguments) == expected)
    }
}

import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HistoryRoutesTests {
    private let bench = ServerBench()

    private func request(
        _ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil, hasFetched: Bool = true
    ) async throws -> Answer {
        let rebuild = RebuildService(
            settings: bench.settings, wallNow: { [loop = bench.loop] in loop.wallNow }, hasFetched: { hasFetched },
            logger: bench.log.logger)
        return try await bench.request(
            method, uri, body,
            with: [
                HistoryRoutes(directory: bench.directory, settings: bench.settings, rebuild: rebuild),
                SyncRoutes(settings: bench.settings, engine: { nil }),
            ])
    }

    // MARK: - History

    @Test func history_tellsWhatWasOverwritten_theLatestFirst() async throws {
        try await bench.plugIn()
        for name in ["Bench", "Desk", "Shelf"] {
            _ = try await request(.patch, ServerBench.meter("/settings"), #"{"settings":{"name":"\#(name)"}}"#)
        }

        let body = try await request(.get, ServerBench.meter("/history")).decode(HistoryBody.self)

        #expect(body.meter == "\(ServerBench.id)")
        #expect(body.history.map(\.key) == ["name", "name"])
        #expect(body.history.map(\.old) == ["Desk", "Bench"])
        #expect(body.history.map(\.new) == ["Shelf", "Desk"])
        #expect(body.history.allSatisfy { $0.overwritten.host_id != nil && !$0.deleted })
    }

    @Test func history_isOfOneSetting_andNoLonger_whereAskedFor() async throws {
        try await bench.plugIn()
        for number in 1...3 {
            _ = try await request(
                .patch, ServerBench.meter("/settings"), #"{"settings":{"name":"n\#(number)","notes":"\#(number)"}}"#)
        }

        let body = try await request(.get, ServerBench.meter("/history?key=notes&limit=1")).decode(HistoryBody.self)

        #expect(body.history.map(\.old) == ["2"])
        #expect(body.history.map(\.key) == ["notes"])
    }

    @Test(arguments: ["0", "1001", "many", "-1", ""])
    func history_isRefused_withALimitThatIsNone(limit: String) async throws {
        try await bench.plugIn()

        let answer = try await request(.get, ServerBench.meter("/history?limit=\(limit)"))

        #expect(answer.status == 400)
        #expect(answer.error?.message.hasSuffix("limit cannot be \"\(limit)\"; it takes 1 to 1000") == true)
    }

    @Test func history_ofAnUnknownMeter_is404() async throws {
        #expect(try await request(.get, "/v1/meters/bench/history").error?.code == .noSuchMeter)
    }

    // MARK: - Refreshes

    @Test func refreshes_areALineWhenSomethingChanged_withTheLatestOfMany() async throws {
        try await bench.plugIn()

        let answering = Task { try await request(.get, "/v1/refreshes") }
        try await eventually("somebody listens") { bench.settings.refreshes.hasListeners }
        for name in ["Bench", "Desk"] {
            _ = try await request(.patch, ServerBench.meter("/settings"), #"{"settings":{"name":"\#(name)"}}"#)
        }
        bench.settings.refreshes.finish()
        let answer = try await answering.value

        #expect(answer.text.hasSuffix("{\"refresh_version\":2}\n"))
    }

    // MARK: - Rebuild

    /// A meter that is there under its normal name and under an older one.
    private func plant() throws {
        let records = [("02:00:00:00:25:0C", UInt64(2)), ("02000000250c", 1)].map { name, milliseconds in
            let stamp = Stamp(milliseconds: milliseconds, counter: 0, host: HostID(high: 0x4000, low: 2))
            return SyncRecord(
                key: RecordKey(type: .deviceSettings, name: name),
                properties: ["name": Register(value: .string(name), stamp: stamp)])
        }
        try bench.store.plant(records)
    }

    private func lines(_ answer: Answer) throws -> [RebuildLine] {
        try answer.text.split(separator: "\n").map { try JSONDecoder().decode(RebuildLine.self, from: Data($0.utf8)) }
    }

    @Test func dryRun_saysWhatWouldBeDone_andDoesNothing() async throws {
        try plant()

        let answer = try await request(.post, "/v1/rebuild", #"{"dry_run":true}"#)

        #expect(
            answer.text
                == #"{"examples":[{"from":"02000000250c","into":"02:00:00:00:25:0C","kept":["name"],"moved":[],"#
                + #""type":"DeviceSettings"}],"folded":1,"scanned":2}"#)
        #expect(try await bench.store.rebuildProgress().scanned == 0)
    }

    @Test func rebuild_endsWithItsResult() async throws {
        try plant()

        let answer = try await request(.post, "/v1/rebuild")

        #expect(answer.contentType == "application/x-ndjson")
        let last = try #require(try lines(answer).last)
        #expect(last.state == .complete)
        #expect(last.folded == 1)
        #expect(last.error == nil)
        #expect(try await bench.store.rebuildProgress().isComplete)
    }

    @Test func rebuild_saysWhyItFailed_inItsLastLine() async throws {
        try plant()

        let answer = try await request(.post, "/v1/rebuild", hasFetched: false)

        let last = try #require(try lines(answer).last)
        #expect(last.state == .failed)
        #expect(last.error?.code == .refused)
        #expect(last.error?.next.hasPrefix("meterctl sync now") == true)
    }
}

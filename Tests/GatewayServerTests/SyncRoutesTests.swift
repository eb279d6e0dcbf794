import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SyncRoutesTests {
    private let bench = ServerBench()
    private let cloud: ScriptedCloud
    private let engine: SyncEngine

    init() {
        cloud = ScriptedCloud(loop: bench.loop)
        engine = SyncEngine(
            zone: "home", host: .temporary, bringsAll: false,
            dependencies: SyncEngine.Dependencies(
                link: cloud.link(for: .temporary), repository: bench.store, loop: bench.loop,
                rng: SplitMix64(seed: 7)),
            logger: bench.log.logger)
    }

    private func request(
        _ method: HTTPRequest.Method, _ rest: String = "", _ body: String? = nil, joined: Bool = true
    ) async throws -> Answer {
        let engine = joined ? engine : nil
        return try await bench.request(
            method, "/v1/sync\(rest)", body, with: [SyncRoutes(settings: bench.settings, engine: { engine })])
    }

    /// The engine runs while `body` does.
    private func whileRunning(_ body: () async throws -> Void) async throws {
        async let running: Void = engine.run()
        do {
            try await body()
        } catch {
            await engine.stop()
            await running
            throw error
        }
        await engine.stop()
        await running
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, ""), (.post, ""), (.post, "/cancel"), (.post, "/resume"), (.get, "/events"),
    ])
    func hostOnItsOwn_isToldHowToJoin(method: HTTPRequest.Method, path: String) async throws {
        let answer = try await request(method, path, joined: false)

        #expect(answer.status == 409)
        #expect(answer.error?.code == .refused)
        #expect(answer.error?.next.hasPrefix("meterctl cloud join ") == true)
    }

    @Test func status_hasNulls_andNoMissingKeys_beforeAnythingHappened() async throws {
        let answer = try await request(.get)

        #expect(answer.status == 200)
        #expect(
            try answer.keys() == [
                "again", "cancelling", "clock_behind_ms", "clock_error_ms", "counters", "epoch", "error", "failures",
                "full", "full_retry_in_ms", "halt", "held_back", "last_success_ms", "mode", "network", "parked",
                "pending", "poll_in_ms", "push_age_ms", "put_off", "refetching", "refresh_version", "result",
                "retry_in_ms", "role",
                "stream", "stream_age_ms", "unread", "zone",
            ])
        let status = try answer.decode(SyncStatusBody.self)
        #expect(status.mode == "stopped")
        #expect(status.stream == "closed")
        #expect(status.result == nil)
    }

    @Test func sync_answersWithItsResult_whichIsKept() async throws {
        let change = SettingChange(
            key: RecordKey(type: .deviceSettings, name: "\(ServerBench.id)"), property: "name", value: .string("Bench"))
        _ = try await bench.store.write([change], at: HostMoment(wall: bench.loop.wallNow, sinceBoot: bench.loop.now))
        let stranger = SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "02:00:00:00:00:01"),
            properties: [
                "name": Register(
                    value: .string("Desk"),
                    stamp: Stamp(milliseconds: 1, counter: 0, host: HostID(high: 0x4000, low: 2)))
            ])
        cloud.put([stranger], by: nil)

        try await whileRunning {
            let result = try await request(.post).decode(SyncResultBody.self)
            #expect(result.end == "complete")
            #expect(!result.was_cancelled)
            #expect(result.error == nil)
            let status = try await request(.get).decode(SyncStatusBody.self)
            #expect(status.result?.run ?? 0 >= result.run)
            #expect(status.pending == 0)
            #expect(status.stream == "open")
            #expect(status.counters.runs >= 1)
        }
    }

    /// Whether it is the run that was asked for which halts, or one that was under way when it was.
    @Test func sync_tellsWhatFailed_andWhatToDo() async throws {
        cloud.fail(
            .account, with: SyncFailure(.notAuthenticated, "the token was revoked"),
            SyncFailure(.notAuthenticated, "the token was revoked"))

        try await whileRunning {
            let result = try await request(.post).decode(SyncResultBody.self)
            #expect(result.end == "halted")
            #expect(result.error == "the token was revoked")
            #expect(result.next?.contains("meterctl cloud join") == true)
            let status = try await request(.get).decode(SyncStatusBody.self)
            #expect(status.mode == "halted")
            #expect(status.halt == result.next)
        }
    }

    @Test func detachedSync_cancelAndResume_answerAtOnce() async throws {
        try await whileRunning {
            for (path, body) in [("", #"{"detach":true}"#), ("/cancel", nil), ("/resume", nil)] {
                let answer = try await request(.post, path, body)
                #expect(answer.status == 200)
                #expect(try answer.decode(SyncStatusBody.self).zone == "home")
            }
        }
    }

    @Test func sync_isRefused_whereTheEngineStopped() async throws {
        try await whileRunning {}

        let answer = try await request(.post)

        #expect(answer.status == 409)
        #expect(answer.error?.code == .refused)
    }

    @Test func events_areOneObjectALine_numbered_untilTheEngineStops() async throws {
        async let answering = request(.get, "/events")
        try await eventually("somebody listens") { engine.events.hasListeners }
        try await whileRunning { _ = try await request(.post) }
        let answer = try await answering

        #expect(answer.contentType == "application/x-ndjson")
        let lines = try answer.text.split(separator: "\n").map {
            try JSONDecoder().decode(SyncEventLine.self, from: Data($0.utf8))
        }
        #expect(lines.first?.event == "started")
        #expect(lines.map(\.number) == Array(1...UInt64(lines.count)))
        #expect(lines.contains { $0.event.hasPrefix("account checked: zone home") })
    }
}

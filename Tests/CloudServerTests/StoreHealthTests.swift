import Cloud
import CloudAPI
import CloudServer
import Domain
import Hummingbird
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// What `GET /v1/health` goes by.
struct StoreHealthTests {
    private let clock = BenchClock()
    private let log = LogBook()
    private let store = ProbedStore()

    private func health() -> StoreHealth {
        StoreHealth(look: { [store] in try store.look(writes: $0) }, now: clock.cloud.now, logger: log.logger)
    }

    @Test func answer_servesForTwoSeconds() async {
        let health = health()
        for _ in 0..<3 { #expect(await health.fault() == nil) }
        #expect(store.looks == [false])
        store.fail(with: "locked")
        #expect(await health.fault() == nil)

        clock.advance(by: .seconds(2))

        #expect(await health.fault()?.contains("locked") == true)
        store.fail(with: nil)
        clock.advance(by: .seconds(2))
        #expect(await health.fault() == nil)
        #expect(log.entries.map(\.message) == ["store failed", "store recovered"])
    }

    @Test func afterAFailedWrite_onlyARealOneHeals_triedEachTenSeconds() async {
        let health = health()
        await health.failed("disk full")
        clock.advance(by: .seconds(9))
        #expect(await health.fault() == "disk full")
        #expect(store.looks.isEmpty)

        store.fail(with: "still full")
        clock.advance(by: .seconds(1))
        #expect(await health.fault()?.contains("still full") == true)
        store.fail(with: nil)
        clock.advance(by: .seconds(10))
        #expect(await health.fault() == nil)
        #expect(store.looks == [true, true])
    }

    @Test func manyFailedWrites_areOneLine() async {
        let health = health()
        for number in 0..<5 { await health.failed("disk full \(number)") }

        #expect(log.entries.map(\.message) == ["store failed"])
    }

    @Test func warning_isThatOfTheLastLook_andOneLine() async {
        let warning = Mutex<String?>("clock")
        let health = StoreHealth(
            look: { [store] in try store.look(writes: $0) }, warn: { warning.withLock { $0 } }, now: clock.cloud.now,
            logger: log.logger)
        for _ in 0..<2 {
            #expect(await health.fault() == nil)
            #expect(await health.warning == "clock")
            clock.advance(by: .seconds(2))
        }
        #expect(log.entries.map(\.message) == ["cloud health warning raised"])
        warning.withLock { $0 = nil }
        #expect(await health.fault() == nil)
        #expect(await health.warning == nil)
    }

    @Test func routeSaysSo_andLiveDoesNot() async throws {
        let bench = try CloudBench()
        let host = try await bench.host("1")
        try await bench.test(.router) { browser in
            bench.engine.fail(with: CloudFailure(.serviceUnavailable, "the disk is full"))
            let path = CloudBench.lease("acquire")
            #expect(try await browser.post(path, token: host.token, CloudBench.acquire("1")).status == 503)

            let answer = try await browser.request(.get, "/v1/health")
            #expect(answer.status == 503)
            #expect(answer.error?.message == "the disk is full")
            #expect(try await browser.request(.get, "/v1/health?live").status == 200)

            bench.engine.fail(with: nil)
            bench.clock.advance(by: .seconds(10))
            #expect(try await browser.request(.get, "/v1/health").status == 200)
        }
    }
}

private final class ProbedStore: Sendable {
    private struct State {
        var looks: [Bool] = []
        var failure: CloudFailure?
    }

    private let state = Mutex(State())

    var looks: [Bool] { state.withLock { $0.looks } }

    func fail(with reason: String?) {
        state.withLock { $0.failure = reason.map { CloudFailure(.serviceUnavailable, $0) } }
    }

    func look(writes: Bool) throws {
        let failure = state.withLock { state in
            state.looks.append(writes)
            return state.failure
        }
        if let failure { throw failure }
    }
}

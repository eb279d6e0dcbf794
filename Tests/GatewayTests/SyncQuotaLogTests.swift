import Domain
import Gateway
import Logging
import MeterStore
import MeterTestKit
import Testing

/// A host whose cloud has no room for what it needs to send.
@Suite(.timeLimit(.minutes(10)))
struct SyncQuotaLogTests {
    private let bench = SyncBench()
    private let desk = RecordKey(type: .deviceSettings, name: MeterID.mac(MACAddress(bits: 1)).description)
    private let shed = RecordKey(type: .deviceSettings, name: MeterID.mac(MACAddress(bits: 2)).description)

    private func write(_ key: RecordKey, _ value: Int64) async throws {
        let change = SettingChange(key: key, property: "a", value: .int(value))
        let moment = HostMoment(wall: bench.loop.wallNow, sinceBoot: bench.loop.now)
        _ = try await bench.store.settings.write([change], at: moment)
    }

    @Test func fullCloud_isSaidOnce_whenItBegins_andOnce_whenItEnds() async throws {
        bench.cloud.refuse(desk, with: SyncFailure(.quotaExceeded, "the zone home has 5 of 5 bytes"))
        try await write(desk, 1)
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            try await write(shed, 1)
            _ = await engine.synchronise()
            _ = await engine.synchronise()
            let full = await engine.report().status
            #expect(full.fullness?.failure.message == "the zone home has 5 of 5 bytes")
            #expect((full.queue.heldBack, full.queue.pending, full.queue.parked) == (1, 1, 0))
            #expect(full.lastSyncError == nil)

            bench.cloud.accept(desk)
            _ = await engine.synchronise()
            let status = await engine.report().status
            #expect(status.fullness == nil)
            #expect((status.queue.heldBack, status.queue.pending) == (0, 0))
        }
        #expect(bench.cloud.records[desk]?.properties["a"]?.value == .int(1))
        #expect(bench.cloud.records[shed] != nil)
        let begin = bench.log.entries(
            saying: "cloud quota exceeded: changes wait in the outbox")
        #expect(begin.map(\.level) == [.warning])
        #expect(begin.first?.values["cause"] == "the zone home has 5 of 5 bytes")
        let end = bench.log.entries(saying: "cloud quota available again: outbox sent")
        #expect(end.map(\.level) == [.notice])
        #expect(bench.log.entries(saying: "records quarantined: not synced with the cloud").isEmpty)
    }

    @Test func heldBack_isTriedAgainByItself_withoutASpin() async throws {
        bench.cloud.refuse(desk, with: SyncFailure(.quotaExceeded, "full"))
        try await write(desk, 1)
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            let pushes = bench.cloud.calls.count { $0 == .modify }
            bench.cloud.accept(desk)
            bench.loop.advance(by: .seconds(31))
            try await eventually("nothing waits to be told") { await engine.report().status.queue.pending == 0 }
            #expect(pushes == 1)
            #expect(bench.cloud.calls.count { $0 == .modify } == 2)
        }
        #expect(bench.cloud.records[desk] != nil)
    }
}

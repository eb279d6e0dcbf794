import Domain
import Logging
import MeterStore
import MeterTestKit
import Testing

@testable import Gateway

/// What people can see of a sync session afterwards: in the log, and after a restart.
@Suite(.timeLimit(.minutes(10)))
struct SyncLogTests {
    private let bench = SyncBench()

    @Test func haltWhileIdle_isLogged_withWhatToDo() async throws {
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            bench.cloud.breakStreams(because: SyncFailure(.notAuthenticated, "the token was revoked"))
            try await eventually("the engine halts") { await engine.report().status.mode == .halted }
        }
        let halt = try #require(bench.log.entries(saying: "sync halted").first)
        #expect(halt.level == .error)
        #expect(halt.values["cause"] == "the token was revoked")
        #expect(halt.values["advice"]?.hasPrefix("Join again") == true)
        #expect(bench.log.entries(saying: "sync halted").count == 1)
    }

    @Test func haltOfARun_isLoggedOnce() async throws {
        bench.cloud.fail(.account, with: SyncFailure(.permissionDenied, "not yours"))
        _ = try await bench.running(bench.engine()) { try await $0.next() }
        #expect(bench.log.entries(saying: "sync halted").count == 1)
    }

    @Test func mergeOfAnotherHostsChange_isOneLine_withWhatAndFromWhom() async throws {
        let key = RecordKey(type: .deviceSettings, name: MeterID.mac(MACAddress(bits: 1)).description)
        let stamp = Stamp(milliseconds: 1000, counter: 0, host: .second)
        let theirs = SyncRecord(
            key: key,
            properties: [
                "name": Register(value: .string("Desk"), stamp: stamp), "a": Register(value: .int(1), stamp: stamp),
            ])
        try await bench.running(bench.engine(hostName: { $0 == .second ? "bench pi" : nil })) { results in
            _ = try await results.next()
            bench.cloud.put([theirs], by: .second)
            _ = try await results.next()
        }
        let lines = bench.log.entries(saying: "record changed by another host")
        #expect(lines.map(\.level) == [.info])
        #expect(lines.first?.values["meter.id"] == key.name)
        #expect(lines.first?.values["keys"] == "a, name")
        #expect(lines.first?.values["from"] == "bench pi")
    }

    /// Up to five are a line each.
    @Test(arguments: [(5, 5), (6, 0)])
    func fewChanges_areALineEach(count: Int, lines: Int) async throws {
        bench.cloud.put((0..<count).map { .setting($0) }, by: .second)
        _ = try await bench.running(bench.engine()) { try await $0.next() }
        #expect(bench.log.entries(saying: "record changed by another host").count == lines)
        #expect(bench.log.entries(saying: "records changed by other hosts").count == (lines == 0 ? 1 : 0))
    }

    @Test func manyChanges_areOneLine() async throws {
        bench.cloud.put((0..<300).map { .setting($0) }, by: .second)
        _ = try await bench.running(bench.engine()) { try await $0.next() }
        #expect(bench.log.entries(saying: "record changed by another host").isEmpty)
        let lines = bench.log.entries(saying: "records changed by other hosts")
        #expect(lines.map { $0.values["types"] } == ["300 Recording"])
    }

    /// Five are a line each, and one more makes a single line of all.
    @Test(arguments: [5, 6])
    func fewChanges_areALineEach(count: Int) async throws {
        bench.cloud.put((0..<count).map { .setting($0) }, by: .second)
        _ = try await bench.running(bench.engine()) { try await $0.next() }
        #expect(bench.log.entries(saying: "record changed by another host").count == (count == 5 ? 5 : 0))
        #expect(bench.log.entries(saying: "records changed by other hosts").count == (count == 5 ? 0 : 1))
    }

    @Test func line_saysWhichRecord_andWhetherItIsGone_andNamesNobodyTwice() async throws {
        let stamps = [HostID.second, .first].map { Stamp(milliseconds: 1000, counter: 0, host: $0) }
        let gone = SyncRecord(key: SyncRecord.setting(2).key, deletion: Deletion(stamp: stamps[0]))
        var shared = SyncRecord.setting(3)
        shared.merge(
            SyncRecord(
                key: shared.key, properties: ["mine": Register(value: .int(1), stamp: stamps[1])]))
        let own = SyncRecord(
            key: SyncRecord.setting(4).key, properties: ["mine": Register(value: .int(1), stamp: stamps[1])])
        bench.cloud.put([.setting(1), gone, shared, own], by: .second)
        _ = try await bench.running(bench.engine()) { try await $0.next() }

        let lines = bench.log.entries(saying: "record changed by another host").map(\.values)
        #expect(lines.map { $0["record"] } == ["Recording 00001", "Recording 00002", "Recording 00003"])
        #expect(lines.map { $0["deleted"] } == [nil, "true", nil])
        #expect(lines.map { $0["keys"] } == ["v", nil, "mine, v"])
        #expect(lines.allSatisfy { $0["meter.id"] == nil && $0["from"] == "\(HostID.second)" })
    }

    @Test func oneSettingThatTheCloudLost_isSaid() {
        var merge = MergeOutcome()
        let engine = bench.engine()
        engine.logToldAgain(merge)
        merge.toldAgain = 1
        engine.logToldAgain(merge)
        let message = "cloud lost accepted settings: settings sent again"
        #expect(bench.log.entries(saying: message).map { $0.values["settings"] } == ["1"])
    }

    @Test func successAndFailures_surviveARestart() async throws {
        _ = try await bench.running(bench.engine()) { try await $0.next() }
        let success = bench.loop.wallNow
        bench.loop.stepWallClock(by: .seconds(60))
        bench.cloud.setReachable(false)
        for _ in 0..<2 {
            _ = try await bench.running(bench.engine()) { try await $0.next() }
        }
        #expect(try await bench.store.settings.progress().record == RunHistory(lastSuccess: success, failures: 2))
        let status = await bench.engine().report().status
        #expect(status.lastSuccess == success)
        #expect(status.failures == 2)
    }

    @Test func events_haveTheWallTime() async throws {
        let engine = bench.engine()
        var events = engine.events.subscribe(buffer: 10).makeAsyncIterator()
        _ = try await bench.running(engine) { try await $0.next() }
        #expect(await events.next()?.value.wall == bench.loop.wallNow)
    }
}

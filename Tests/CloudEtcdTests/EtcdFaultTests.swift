import Cloud
import CloudAPI
import CoreTestKit
import Domain
import Logging
import MeterTestKit
import Synchronization
import Testing

@testable import CloudEtcd

/// What goes wrong with a real etcd. Each has one of its own, one at a time: they are stopped and killed by time-outs, which a
/// machine with a dozen of them does not keep.
@Suite(.serialized, .enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdFaultTests {
    private let zone = "home"
    private let now = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private func record(_ name: String, _ value: Int64 = 1) -> SyncRecord {
        let stamp = Stamp(
            milliseconds: UInt64(now.millisecondsSince1970 + value), counter: 0, host: HostID(high: 1, low: 1))
        return SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            properties: ["a": Register(value: .int(value), stamp: stamp)])
    }

    /// Runs `body` with an engine that has a zone and one record.
    private func withEngine(
        _ server: EtcdServer, _ settings: EtcdSettings? = nil, _ body: (EtcdCloudEngine) async throws -> Void
    ) async throws {
        let engine = try await EtcdCloudEngine.open(settings ?? server.settings)
        do {
            _ = try await engine.createZone(zone, terms: .standard)
            _ = try await engine.modify([record("m1")], in: zone, now: now)
            try await body(engine)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    /// Asks no longer than this.
    private func hasty(_ server: EtcdServer) -> EtcdSettings {
        var settings = server.settings
        settings.answerTimeout = .milliseconds(300)
        settings.patience = .seconds(1)
        return settings
    }

    @Test func engine_goesOn_whenEtcdWasKilledAndStartedAgain() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            server.kill()
            async let during = engine.modify([record("m2")], in: zone, now: now)
            try server.start()

            let outcomes = try await during

            #expect(outcomes.map(\.fate) == [.changed(sequence: 2)])
            #expect(try await engine.records(in: zone, type: nil).map(\.key.name) == ["m1", "m2"])
        }
    }

    @Test func close_waitsForWhatIsUnderWay_andEndsIt() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            server.kill()
            async let write = failure { _ = try await engine.modify([record("m2")], in: zone, now: now) }
            async let look = failure { _ = try await engine.zone(zone) }
            try await eventually("the write is under way") { !engine.work.isIdle }

            await engine.close()

            #expect(engine.work.isIdle)
            _ = await (write, look)
        }
    }

    @Test func open_saysWhere_whenNobodyAnswers() async throws {
        let server = try EtcdServer()

        let error = await failure { try await EtcdCloudEngine.open(hasty(server)).close() }

        #expect(error?.code == .unreachable)
        #expect(error?.message.contains(server.urls[0]) == true)
        #expect(error?.failure.code == .serviceUnavailable)
    }

    @Test func open_saysSo_whenEtcdDoesNotAnswerInTime() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { _ in
            server.pause()
            defer { server.goOn() }

            let error = await failure { try await EtcdCloudEngine.open(hasty(server)).close() }

            #expect(error?.code == .timedOut || error?.code == .unreachable)
        }
    }

    @Test func engine_goesToAnotherMember_andStopsWithoutAMajority() async throws {
        let server = try EtcdServer(members: 3)
        try server.start()
        try await withEngine(server) { engine in
            server.kill(0)

            let outcomes = try await engine.modify([record("m2")], in: zone, now: now)

            #expect(outcomes.map(\.fate) == [.changed(sequence: 2)])
            server.kill(1)
            let error = await failure { try await EtcdCloudEngine.open(hasty(server)).close() }
            #expect(error != nil)
            #expect(error?.isWorthAnotherTry == true)
            try server.start(0)
            #expect(try await engine.records(in: zone, type: nil).map(\.key.name) == ["m1", "m2"])
        }
    }

    /// Asks for all leases in one batch.
    ///
    /// - Returns: what failed of each meter, if anything.
    private func acquire(
        _ meters: [String: UInt64], at engine: EtcdCloudEngine
    ) async -> [String: EtcdError.Code?] {
        let (answers, said) = AsyncStream.makeStream(of: (String, EtcdError.Code?).self)
        let circumstances = LeaseCircumstances(now: .origin, wallNow: now, terms: .standard)
        let jobs = meters.map { meter, host in
            let request = LeaseAcquire(
                requestID: .numbered(host), host: .numbered(host), hostName: "h", session: .numbered(host),
                timeToLive: .seconds(120), transport: .usb)
            return LeaseJob(
                meter: meter, heedsTime: true,
                decide: { lease in
                    let decision = LeaseRules.acquire(request, of: lease, in: circumstances)
                    return LeaseJob.Step(record: decision.record) { said.yield((meter, nil)) }
                },
                fail: { said.yield((meter, $0.code)) })
        }
        engine.leaseDesk.submit(jobs, in: zone)
        return await answers.prefix(jobs.count).reduce(into: [:]) { $0[$1.0] = .some($1.1) }
    }

    @Test func damagedEntry_failsOnlyWhoNeedsIt() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            #expect(await acquire(["sound": 1, "damaged": 2], at: engine) == ["sound": nil, "damaged": nil])
            let keys = engine.keys
            func damage(_ damaged: [[UInt8]]) async throws {
                _ = try await engine.client.commit(
                    EtcdTransaction(success: damaged.map { .put(key: $0, value: Array("?".utf8)) }))
            }
            try await damage([keys.lease(of: "damaged", in: zone), keys.leaseCount(zone, of: .numbered(2))])
            let second = try await EtcdCloudEngine.open(server.settings)

            #expect(
                await acquire(["sound": 1, "damaged": 3, "new": 1, "uncounted": 2], at: second)
                    == ["sound": nil, "damaged": .damaged, "new": nil, "uncounted": .damaged])
            try await damage([keys.leaseCount(zone)])
            #expect(
                await acquire(["sound": 1, "new": 1, "uncounted": 3], at: second)
                    == ["sound": nil, "new": nil, "uncounted": .damaged])
            await second.close()
        }
    }

    @Test func damagedAliases_failOnlyTheirZone() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            _ = try await engine.createZone("other", terms: .standard)
            _ = try await engine.client.commit(
                EtcdTransaction(success: [.put(key: engine.keys.aliases(of: zone), value: Array("?".utf8))]))
            let second = try await EtcdCloudEngine.open(server.settings)
            // So that nothing else is read while the next three are asked.
            for name in [zone, "other"] { _ = try await second.zone(name); try await second.check(name) }

            // While the first is under way, the other two gather into one batch.
            async let first = second.standing(of: "first", in: "other")
            async let here = second.standing(of: "sound", in: zone)
            async let there = second.standing(of: "sound", in: "other")

            let asked = (try? await here, try? await first, try? await there)
            #expect((asked.0 == nil, asked.1 == nil, asked.2 == nil) == (true, false, false))
            await second.close()
        }
    }

    @Test func damagedRecord_failsOnlyWhoWritesIt() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            let key = engine.keys.record(record("m1").key, in: zone)
            _ = try await engine.client.commit(EtcdTransaction(success: [.put(key: key, value: Array("?".utf8))]))

            async let first = engine.modify([record("m2")], in: zone, now: now)
            try await eventually("the first is under way") { !engine.work.isIdle }
            async let damaged = engine.modify([record("m1", 2)], in: zone, now: now)
            async let sound = engine.modify([record("m3")], in: zone, now: now)

            let fates = (try? await first, try? await damaged, try? await sound)
            #expect((fates.0?.count, fates.1 == nil, fates.2?.count) == (1, true, 1))
        }
    }

    @Test func damagedLease_keepsNoOtherZonesNewsBack() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            _ = try await engine.createZone("later", terms: .standard)
            let second = try await EtcdCloudEngine.open(server.settings)
            let news = Mutex<[CloudNews]>([])
            func read() async { await second.readAllNews { found in news.withLock { $0.append(found) } } }
            await read()
            _ = try await engine.client.commit(
                EtcdTransaction(success: [
                    .put(key: engine.keys.lease(of: "m1", in: zone), value: Array("?".utf8))
                ]))
            _ = try await engine.modify([record("m1")], in: "later", now: now)

            await read()

            #expect(news.withLock(\.self) == [.records(types: [RecordType.deviceSettings.rawValue], zone: "later")])
            await second.close()
        }
    }

    private func raiseAlarm(_ engine: EtcdCloudEngine) async throws {
        let _: Anything = try await engine.client.call(
            "/v3/maintenance/alarm", body: Array(#"{"action":"ACTIVATE","memberID":"0","alarm":"NOSPACE"}"#.utf8))
    }

    private func disarm(_ engine: EtcdCloudEngine) async throws {
        let _: Anything = try await engine.client.call(
            "/v3/maintenance/alarm", body: Array(#"{"action":"DEACTIVATE","alarm":"NOSPACE"}"#.utf8))
    }

    @Test func writes_areRefused_andReadsGoOn_whenTheQuotaIsReached() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            try await raiseAlarm(engine)

            let failure = await #expect(throws: CloudFailure.self) {
                _ = try await engine.modify([record("m2")], in: zone, now: now)
            }

            #expect(failure?.code == .serviceUnavailable)
            #expect(failure?.message.contains("quota") == true)
            #expect(try await engine.records(in: zone, type: nil).map(\.key.name) == ["m1"])
            try await disarm(engine)
            #expect(try await engine.modify([record("m2")], in: zone, now: now).map(\.fate) == [.changed(sequence: 2)])
        }
    }

    @Test func copy_starts_andReads_whenTheQuotaIsReached() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            try await raiseAlarm(engine)

            let second = try await EtcdCloudEngine.open(server.settings)

            #expect(try await second.records(in: zone, type: nil).map(\.key.name) == ["m1"])
            #expect(try await second.lease(of: "112233445566", in: zone) == nil)
            try await disarm(second)
            #expect(try await second.modify([record("m2")], in: zone, now: now).map(\.fate) == [.changed(sequence: 2)])
            await second.close()
        }
    }

    @Test func newStore_isNotBegun_whenTheQuotaIsReached() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            try await raiseAlarm(engine)
            var other = server.settings
            other.prefix = "other/"

            let error = await failure { _ = try await EtcdCloudEngine.open(other) }

            #expect(error?.code == .noSpace)
        }
    }

    @Test func probe_saysWhy_untilTheQuotaIsMended() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            try await engine.probe(writes: false)
            try await raiseAlarm(engine)

            let failure = await #expect(throws: CloudFailure.self) { try await engine.probe(writes: false) }

            #expect(failure?.code == .serviceUnavailable)
            #expect(failure?.message.contains("NOSPACE") == true)
            try await disarm(engine)
            try await engine.probe(writes: false)
        }
    }

    @Test func changes_areAllThere_whenEverythingWasCompacted() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            let token = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 9).token
            for round in Int64(2)..<9 { _ = try await engine.modify([record("m1", round)], in: zone, now: now) }
            let revision = try await engine.client.read([EtcdRange(key: [1])]).revision
            let _: Anything = try await engine.client.call(
                "/v3/kv/compaction", body: Array(#"{"revision":"\#(revision)"}"#.utf8))

            let list = try await engine.changes(of: .deviceSettings, in: zone, after: token, limit: 9)

            #expect(list.records == [record("m1", 8)])
            var old = EtcdRange(key: engine.keys.head(zone))
            old.revision = 2
            let error = await failure { _ = try await engine.client.read([old]) }
            #expect(error?.code == .compacted)
        }
    }

    @Test func everyCall_isRefused_onceTheStoreWentBack() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            server.kill()
            try server.forgetEverything()
            try server.start()

            let failure = await #expect(throws: CloudFailure.self) { _ = try await engine.zones() }

            #expect(failure?.message.contains("seen before") == true)
            await #expect(throws: CloudFailure.self) {
                _ = try await engine.createZone(zone, terms: .standard)
            }
        }
    }

    @Test func engine_logsInAnew_whenEtcdHasForgottenItsTickets() async throws {
        let server = try EtcdServer()
        try server.start()
        try await withEngine(server) { engine in
            for (path, body) in [
                ("/v3/auth/user/add", #"{"name":"root","password":"pass"}"#),
                ("/v3/auth/role/add", #"{"name":"root"}"#),
                ("/v3/auth/user/grant", #"{"user":"root","role":"root"}"#), ("/v3/auth/enable", "{}"),
            ] {
                let _: Anything = try await engine.client.call(path, body: Array(body.utf8))
            }
            var settings = server.settings
            (settings.user, settings.password) = ("root", "pass")
            let known = try await EtcdCloudEngine.open(settings)
            #expect(try await known.records(in: zone, type: nil).count == 1)
            server.kill()
            try server.start()

            #expect(try await known.modify([record("m2")], in: zone, now: now).map(\.fate) == [.changed(sequence: 2)])

            await known.close()
            settings.password = "wrong"
            let wrong = await failure { _ = try await EtcdCloudEngine.open(settings) }
            #expect(wrong?.code == .notAuthenticated)
            let nobody = await failure { _ = try await EtcdCloudEngine.open(server.settings) }
            #expect(nobody?.code == .notAuthenticated)
        }
    }
}

/// An answer of which nothing is asked.
private struct Anything: EtcdReadable {
    init?(_ json: inout JSONReader) { json.passValue() }
    var storeRevision: Int64 { 0 }
}

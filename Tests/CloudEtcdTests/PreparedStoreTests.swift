import Cloud
import CloudAPI
import Domain
import Logging
import MeterTestKit
import Synchronization
import Testing

@testable import CloudEtcd

/// What the engine makes of a store as others left it, and of what etcd refuses meanwhile: without an etcd.
struct PreparedStoreTests {
    private let zone = "home"
    private let keys = StoreKeys(prefix: "p/")

    private var record: SyncRecord {
        let stamp = Stamp(milliseconds: 1, counter: 0, host: HostID(high: 0x4000, low: 1))
        return SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "m1"), properties: ["a": Register(value: .int(1), stamp: stamp)]
        )
    }

    /// A zone, in whose feed the record is the only one.
    private func entries() throws -> [[UInt8]: [UInt8]] {
        [
            keys.epoch: Array("e1".utf8), keys.zone(zone): try StoredTerms(.standard).bytes,
            keys.head(zone): try StoredHead(sequence: 1).bytes,
            keys.place(1, of: record.key.type, in: zone): Array(record.key.name.utf8),
            keys.record(record.key, in: zone): StoredRecord(record: record, sequence: 1, tombstoneTime: nil).bytes,
        ]
    }

    private func withEngine(
        _ store: PreparedStore, clock: CloudClock = .real,
        _ body: (EtcdCloudEngine, ScriptedMember) async throws -> Void
    ) async throws {
        let member = try await ScriptedMember(store.answer)
        var settings = EtcdSettings(urls: [member.url], prefix: "p/")
        settings.answerTimeout = .seconds(60)
        let engine = try await EtcdCloudEngine.open(settings, clock: clock)
        do {
            try await body(engine, member)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
        try await member.close()
    }

    /// How often a state of the past was asked for.
    private func readings(of member: ScriptedMember) -> Int {
        member.requests.filter { $0.body.contains(#""revision":"9""#) }.count
    }

    // MARK: Pages

    /// The next try is of a state that etcd still has.
    @Test func page_isReadAnew_whenEtcdIsCompactedMeanwhile() async throws {
        let store = PreparedStore(try entries(), refusals: [PreparedStore.compacted])
        try await withEngine(store) { engine, member in
            let list = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 9)

            #expect(list.records == [record])
            #expect(readings(of: member) == 2)
        }
    }

    @Test func page_saysWhatIsDamaged_atOnce() async throws {
        var entries = try entries()
        entries[keys.record(record.key, in: zone)] = nil
        try await withEngine(PreparedStore(entries)) { engine, member in
            let failure = await #expect(throws: CloudFailure.self) {
                _ = try await engine.changes(of: .deviceSettings, in: zone, after: nil, limit: 9)
            }

            #expect(failure?.code == .internalError)
            #expect(failure?.message.contains("its record is missing") == true, "\(failure?.message ?? "")")
            #expect(readings(of: member) == 1)
        }
    }

    // MARK: Tokens

    /// By its id or its secret, and asked for once: what is taken stays so.
    @Test(arguments: [true, false])
    func token_isRefusedAtOnce_whenItIsTaken(byItsSecret: Bool) async throws {
        let new = Credential(
            id: "2", hash: [2, 2], zone: zone, kind: .host, role: .full, label: "l",
            createdAt: WallTime(millisecondsSince1970: 1))
        var other = new
        if byItsSecret { other.id = "1" } else { other.hash = [1, 1] }
        var entries = try entries()
        entries[keys.credential(hash: other.hash)] = try StoredCredential(other, writer: "w").bytes
        entries[keys.credentialID(other.id)] = other.hash
        try await withEngine(PreparedStore(entries)) { engine, member in
            try await engine.check(zone)
            let before = member.requests.count

            let failure = await #expect(throws: CloudFailure.self) { try await engine.add(new) }

            #expect(failure?.code == .badRequest)
            #expect(member.requests.count == before + 1)
        }
    }

    // MARK: Leases

    /// A host that got a lease after the backup may have it with the longest times of any zone.
    @Test func restoredStore_waitsForTheLongestLockDelay() async throws {
        var entries = try entries()
        entries[keys.restoring] = Array("1".utf8)
        for (zone, seconds) in [("a", 5), ("b", 250), ("c", 20)] {
            let terms = LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(seconds), policy: .keep)
            entries[keys.zone(zone)] = try StoredTerms(terms).bytes
        }
        let clock = VirtualCloudClock().clock
        try await withEngine(PreparedStore(entries), clock: clock) { engine, _ in
            let limits = try await engine.leaseLimits(at: clock.now())

            #expect(
                limits.grantsNothingNewBefore
                    == clock.now() + LeaseTerms.timeToLiveRange.upperBound + .seconds(250))
        }
    }

    private final class Failures: Sendable {
        private let heard = Mutex<[EtcdError.Code]>([])

        var codes: [EtcdError.Code] { heard.withLock { $0 } }

        @Sendable func hear(_ error: EtcdError) { heard.withLock { $0.append(error.code) } }
    }

    /// An answer twice would end the program.
    @Test func decisionsThatFail_areAnsweredOnce() async throws {
        let member = try await ScriptedMember([])
        var settings = EtcdSettings(urls: [member.url], prefix: "p/")
        (settings.answerTimeout, settings.patience) = (.seconds(60), .zero)
        let client = try EtcdClient(
            settings, clock: VirtualCloudClock().clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (work, failures) = (SharedWork(), Failures())
        let desk = LeaseBatcher(
            client: client, keys: keys, leaseCache: LeaseCache(),
            aliases: AliasCache(client: client, keys: keys, writer: "w"), pendingRenewals: PendingRenewals(),
            writer: "w", work: work, now: { .origin })
        let jobs = ["m1", "m2"].map { meter in
            LeaseJob(
                meter: meter, heedsTime: true, decide: { _ in LeaseJob.Step(record: nil, deliver: {}) },
                fail: failures.hear)
        }

        desk.submit(jobs, in: zone)
        try await eventually("the decisions have failed") { work.isIdle }

        #expect(failures.codes == [.unreachable, .unreachable])
        #expect(member.requests.count == 1)
        await client.shutdown()
        try await member.close()
    }
}

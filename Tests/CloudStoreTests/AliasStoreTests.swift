import Cloud
import CloudStore
import CoreTestKit
import Domain
import GRDB
import MeterTestKit
import Testing

/// Aliases over restarts, and from versions that leased without them.
struct AliasStoreTests {
    private static let alias = "AA:BB:CC:DD:EE:01"
    private static let meter = "AA:BB:CC:DD:EE:02"

    private let folder: TemporaryFolder
    private let restart = MonotonicTime.origin + .seconds(10_000)

    init() throws { folder = try TemporaryFolder() }

    private var record: SyncRecord {
        SyncRecord(
            key: RecordKey(type: .meterAlias, name: Self.alias),
            properties: ["meter": Register(value: .string(Self.meter), stamp: Sample.stamp())])
    }

    private func makeCloud(_ body: (SQLiteCloudEngine) async throws -> Void) async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        try await body(engine)
        try engine.close()
    }

    private func renew(_ engine: SQLiteCloudEngine, _ meter: String, _ token: UInt64, by host: UInt64) async throws
        -> LeaseRenewal?
    {
        try await engine.renewLeases(
            [(meter, FencingToken(rawValue: token))], session: .numbered(host), in: "home", under: .keep, at: restart
        ).first
    }

    @Test func alias_staysInForce_withItsFloor_afterAStart() async throws {
        try await makeCloud { engine in
            for round in UInt64(1)...3 {
                _ = try await engine.acquire(Sample.acquire(round), meter: Self.alias)
                try await engine.release(FencingToken(rawValue: round), session: round, meter: Self.alias)
            }
            _ = try await engine.modify([record], in: "home", now: Sample.now)
        }

        let engine = try folder.openCloud(now: restart)
        let standing = try await engine.standing(of: Self.alias, in: "home")
        let answer = try await engine.acquire(Sample.acquire(9), meter: Self.alias, at: restart)

        #expect(standing.meter == Self.meter)
        #expect(standing.floor == FencingToken(rawValue: 3))
        #expect(standing.alias?.tokensBefore == FencingToken(rawValue: 3))
        #expect(answer.token == FencingToken(rawValue: 4))
        #expect(try await engine.heldLeases(in: "home").map(\.meter) == [Self.meter])
    }

    @Test func leaseThatAnAliasEnded_staysEnded_afterAStart() async throws {
        try await makeCloud { engine in
            _ = try await engine.acquire(Sample.acquire(1), meter: Self.alias)
            let late = MonotonicTime.origin + LeaseTerms.standard.over
            let outcomes = try await engine.modify([record], in: "home", now: Sample.now, leaseTime: late)
            #expect(outcomes.map(\.fate) == [.changed(sequence: 1)])
            #expect(try await engine.heldLeases(in: "home").isEmpty)
            let removal = SyncRecord(key: record.key, deletion: Deletion(stamp: Sample.stamp(1)))
            _ = try await engine.modify([removal], in: "home", now: Sample.now, leaseTime: late)
        }

        let engine = try folder.openCloud(now: restart)

        #expect(try await engine.heldLeases(in: "home").isEmpty)
        #expect(try await engine.standing(of: Self.alias, in: "home").meter == Self.alias, "it is no alias any more")
        #expect(try await engine.acquire(Sample.acquire(2), meter: Self.alias, at: restart).token?.rawValue == 2)
    }

    /// As a version left it that had the alias as a record alone, while these ids were held by hosts 1, 2, ….
    private func openStoreOfAnEarlierVersion(held ids: [String]) async throws -> SQLiteCloudEngine {
        try await makeCloud { engine in
            _ = try await engine.modify([record], in: "home", now: Sample.now)
            for (index, id) in ids.enumerated() {
                _ = try await engine.acquire(Sample.acquire(UInt64(index) + 1), meter: "of \(id)")
            }
        }
        let queue = try DatabaseQueue(path: folder.store)
        try await queue.write { db in
            try db.execute(
                sql: """
                    DROP TABLE alias; DROP TABLE lease_floor; DELETE FROM meta WHERE key = 'aliases';
                    DELETE FROM grdb_migrations WHERE identifier LIKE '5 aliases%';
                    """)
            for id in ids {
                try db.execute(sql: "UPDATE lease SET meter = ? WHERE meter = ?", arguments: [id, "of \(id)"])
            }
        }
        try queue.close()
        return try folder.openCloud(now: restart)
    }

    @Test(arguments: [[alias], [meter], []])
    func aliasOfAnEarlierVersion_comesIntoForce_andTheHolderStays(held: [String]) async throws {
        let engine = try await openStoreOfAnEarlierVersion(held: held)

        let standing = try await engine.standing(of: Self.alias, in: "home")
        #expect(standing.meter == Self.meter)
        #expect(standing.record?.holder?.host == (held.isEmpty ? nil : .numbered(1)))
        #expect(try await engine.heldLeases(in: "home").map(\.meter) == (held.isEmpty ? [] : [Self.meter]))
        guard let id = held.first else { return }
        guard case .renewed = try await renew(engine, id, 1, by: 1) else {
            Issue.record("the holder lost it")
            return
        }
        for other in [Self.alias, Self.meter] {
            let answer = try await engine.acquire(Sample.acquire(7), meter: other, at: restart)
            #expect(answer.reason == .held)
        }
    }

    @Test func aliasOfAnEarlierVersion_leavesTheMeterToItsOwnHolder_whereBothIdsWereHeld() async throws {
        let engine = try await openStoreOfAnEarlierVersion(held: [Self.alias, Self.meter])

        #expect(try await engine.heldLeases(in: "home").map(\.record.holder?.host) == [.numbered(2)])
        guard case .renewed = try await renew(engine, Self.meter, 1, by: 2) else {
            Issue.record("the holder lost it")
            return
        }
        guard case .lost = try await renew(engine, Self.alias, 1, by: 1) else {
            Issue.record("two hosts have it")
            return
        }
    }
}

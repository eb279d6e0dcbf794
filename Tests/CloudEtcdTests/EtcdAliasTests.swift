import Cloud
import CloudStore
import CoreTestKit
import Domain
import Logging
import MeterTestKit
import Testing

@testable import CloudEtcd

/// Aliases through several copies of one cloud, on a real etcd.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdAliasTests {
    private static let server = Result { try EtcdServer.started() }
    private static let now = WallTime(millisecondsSince1970: 1_795_000_000_000)
    private static let ids = (1...2).map { "AA:BB:CC:DD:EE:0\($0)" }

    private let folder: TemporaryFolder
    private let settings: EtcdSettings

    init() throws {
        folder = try TemporaryFolder()
        var settings = try Self.server.get().settings
        settings.prefix = "\(folder.path.replacing("/", with: "-"))/"
        self.settings = settings
    }

    private func record(_ alias: String, _ meter: String?, write: Int64 = 0) -> SyncRecord {
        let stamp = Stamp(
            milliseconds: UInt64(Self.now.millisecondsSince1970 + write), counter: 0, host: .numbered(1))
        let value: SettingValue = meter.map { .string($0) } ?? .null
        return SyncRecord(
            key: RecordKey(type: .meterAlias, name: alias), properties: ["meter": Register(value: value, stamp: stamp)])
    }

    private func acquire(_ meter: String, by host: UInt64, of engine: any CloudEngine) async throws -> FencingToken? {
        var rng = SystemRandomNumberGenerator()
        let request = LeaseAcquire(
            requestID: RequestID(using: &rng), host: .numbered(host), hostName: "host \(host)",
            session: .numbered(host), timeToLive: .seconds(120), transport: .ble)
        let answer = try await engine.decideLease(of: meter, in: "home") {
            LeaseRules.acquire(
                request, of: $0, in: LeaseCircumstances(now: .origin, wallNow: Self.now, terms: .standard))
        }
        if case .granted(let record) = answer { return record.token }
        return nil
    }

    private func write(
        _ record: SyncRecord, through engine: any CloudEngine, at leaseTime: MonotonicTime = .origin
    ) async throws -> Bool {
        let outcome = try await engine.modify([record], in: "home", now: Self.now, leaseTime: leaseTime)[0]
        if case .changed = outcome.fate { return true }
        return false
    }

    @Test func aliasThatAnotherCopyWrote_isFollowedByTheNextDecision() async throws {
        let (first, second) = (try await EtcdCloudEngine.open(settings), try await EtcdCloudEngine.open(settings))
        _ = try await first.createZone("home", terms: .standard)
        // Both know the aliases as there are none.
        for engine in [first, second] { _ = try await engine.standing(of: Self.ids[0], in: "home") }

        #expect(try await write(record(Self.ids[0], Self.ids[1]), through: second))
        let token = try await acquire(Self.ids[0], by: 1, of: first)

        #expect(token != nil)
        #expect(try await acquire(Self.ids[1], by: 2, of: second) == nil)
        #expect(try await first.heldLeases(in: "home").map(\.meter) == [Self.ids[1]])
        await first.close()
        await second.close()
    }

    @Test func twoCopies_neverGiveTwoIdsOfOneMeterToTwoHosts_whateverCrosses() async throws {
        let (first, second) = (try await EtcdCloudEngine.open(settings), try await EtcdCloudEngine.open(settings))
        _ = try await first.createZone("home", terms: .standard)
        for round in 0..<25 {
            let ids = (1...2).map { "AA:BB:CC:DD:\(10 + round):0\($0)" }
            async let written = write(record(ids[0], ids[1]), through: first)
            async let one = acquire(ids[0], by: 1, of: second)
            async let two = acquire(ids[1], by: 2, of: first)
            let granted = [try await one, try await two].compactMap { $0 }.count
            #expect(granted == (try await written ? 1 : 2))
        }
        await first.close()
        await second.close()
    }

    /// A lease that ran out and was never given back ends with the alias, which only one copy wrote.
    @Test func leaseThatEndsWithAnAlias_isHeldByNobody_toAllCopies() async throws {
        let (first, second) = (try await EtcdCloudEngine.open(settings), try await EtcdCloudEngine.open(settings))
        _ = try await first.createZone("home", terms: .standard)
        #expect(try await acquire(Self.ids[0], by: 1, of: first) != nil)
        #expect(try await first.heldLeases(in: "home").map(\.meter) == [Self.ids[0]])

        let later = MonotonicTime.origin + .seconds(600)
        #expect(try await write(record(Self.ids[0], Self.ids[1]), through: second, at: later))

        for engine in [first, second] {
            #expect(try await engine.heldLeases(in: "home").isEmpty)
            await engine.close()
        }
    }

    @Test func aliasOfAnEarlierVersion_comesIntoForce_andTheHolderStays() async throws {
        let first = try await EtcdCloudEngine.open(settings)
        _ = try await first.createZone("home", terms: .standard)
        #expect(try await write(record(Self.ids[0], Self.ids[1]), through: first))
        let token = try #require(try await acquire("of another", by: 1, of: first))
        let keys = first.keys
        let held = try await first.client.read([EtcdRange(key: keys.lease(of: "of another", in: "home"))])
        let value = try #require(held.ranges[0].entries.first).value
        _ = try await first.client.commit(
            EtcdTransaction(success: [
                .put(key: keys.lease(of: Self.ids[0], in: "home"), value: value),
                .delete(key: keys.aliases(of: "home")),
            ]))
        await first.close()

        let second = try await EtcdCloudEngine.open(settings)
        let renewals = try await second.renewLeases(
            [(Self.ids[0], token)], session: .numbered(1), in: "home", under: .keep, at: .origin)

        guard case .renewed? = renewals.first else {
            Issue.record("the holder lost it: \(renewals)")
            return
        }
        #expect(try await acquire(Self.ids[1], by: 2, of: second) == nil)
        #expect(try await second.standing(of: Self.ids[0], in: "home").meter == Self.ids[1])
        await second.close()
    }

    @Test func aliases_moveWithTheCloud() async throws {
        var rng = SystemRandomNumberGenerator()
        let source = try SQLiteCloudEngine.open(directory: folder.path + "/cloud", now: .origin, rng: &rng)
        _ = try await source.createZone("home", terms: .standard)
        let token = try #require(try await acquire(Self.ids[0], by: 1, of: source))
        _ = try await source.decideLease(of: Self.ids[0], in: "home") {
            LeaseRules.release(token, session: .numbered(1), of: $0)
        }
        #expect(try await write(record(Self.ids[0], Self.ids[1]), through: source))
        let before = try await source.standing(of: Self.ids[0], in: "home")

        _ = try await EtcdArrival.run(
            from: source, to: settings, at: Self.now, clock: .real, rng: &rng,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, progress: { _ in })

        try source.close()
        let engine = try await EtcdCloudEngine.open(settings)
        let after = try await engine.standing(of: Self.ids[0], in: "home")
        #expect((after.meter, after.floor) == (before.meter, before.floor))
        #expect(after.alias?.tokensBefore == before.alias?.tokensBefore)
        #expect(after.alias?.record?.token == token)
        await engine.close()
    }
}

import Domain
import Gateway
import MeterStore
import MeterTestKit
import Synchronization
import Testing

/// The host's identity, and what binds it to its machine.
struct HostIdentityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ digest: String, at path: String? = nil) throws -> MeterStore {
        try MeterStore.open(
            path: path ?? folder.store, options: .init(machine: Machine(digest: digest, boot: "first boot")))
    }

    @Test func host_isMadeOnce_andKept() throws {
        let first = try open("a")
        let identity = first.identity
        try first.close()

        let again = try open("a").identity

        #expect(again == identity)
        #expect(again.replaced == nil)
        #expect(identity.host.high >> 12 & 0xF == 4 && identity.host.low >> 62 == 2, "a UUID of version 4")
        #expect(try open("a", at: folder.path + "/other.db").identity.host != identity.host)
    }

    @Test func copiedCard_getsANewHost_andSaysSo() async throws {
        let original = try open("a")
        let host = original.identity.host
        try await original.set(.desk, "name", .string("Desk"), at: .minute(0))
        try await original.keepLeaseSession(SessionID(high: 1, low: 1))
        try original.close()

        let copy = try open("b")

        #expect(copy.identity.replaced == host)
        #expect(copy.identity.host != host)
        #expect(try await copy.leaseSession() == nil, "the other machine's run")
        try await copy.set(.desk, "units", .string("C"), at: .minute(1))
        let record = try #require(try await copy.record(.desk))
        #expect(record.properties["name"]?.stamp.host == host)
        #expect(record.properties["units"]?.stamp.host == copy.identity.host)
        try copy.close()
        let identity = try open("b").identity
        #expect(identity == HostIdentity(host: copy.identity.host), "said once")
    }

    @Test func machine_isBound_whenItIsFirstTold() throws {
        let untold = try MeterStore.open(path: folder.store)
        let host = untold.identity.host
        try untold.close()
        let told = try open("a")
        #expect(told.identity == HostIdentity(host: host))
        try told.close()
        #expect(try open("b").identity.replaced == host)
    }

    @Test func session_isHandedOn_toTheNextRun_andPastThoseWithoutALease() async throws {
        let first = SessionID(high: 1, low: 1)
        let store = try open("a")
        #expect(try await store.leaseSession() == nil)
        try await store.keepLeaseSession(first)
        try store.close()

        try open("a").close()
        #expect(try await open("a").leaseSession() == first)
    }

    @Test func leaseTokens_ofAZone_areKept_asLongAsTheMeterIsKnown() async throws {
        let store = try open("a")
        try await store.save(KnownMeter(id: .one))
        try await store.keepLeaseToken(FencingToken(rawValue: 5), of: .one, in: "home")
        try await store.keepLeaseToken(FencingToken(rawValue: 3), of: .one, in: "home")
        try await store.keepLeaseToken(FencingToken(rawValue: 3), of: .two, in: "home")
        try await store.save(KnownMeter(id: .one, isWanted: true))
        try store.close()

        let again = try open("a")
        #expect(try await again.leaseTokens(in: "home") == [.one: FencingToken(rawValue: 5)])
        #expect(try await again.leaseTokens(in: "lab") == [:])
        // Another zone's tokens start over.
        try await again.keepLeaseToken(FencingToken(rawValue: 2), of: .one, in: "lab")
        #expect(try await again.leaseTokens(in: "lab") == [.one: FencingToken(rawValue: 2)])
        try await again.forget(.one)
        #expect(try await again.leaseTokens(in: "lab") == [:])
    }

    @Test func clock_goesOn_afterARestartWithAWrongCalendar() async throws {
        let store = try open("a")
        try await store.set(.desk, "name", .string("Desk"), at: .minute(100))
        try store.close()
        let again = try open("a")

        try await again.set(.bench, "name", .string("Bench"), at: .minute(0))

        let first = try #require(try await again.record(.desk)?.properties["name"]?.stamp)
        let second = try #require(try await again.record(.bench)?.properties["name"]?.stamp)
        #expect(second > first)
    }

    /// Asked on the same connection, in the middle of the transaction.
    @Test func settings_areWrittenWithFullSynchronisation_whichSQLiteConfirms() async throws {
        let statements = Mutex<[String]>([])
        let store = try MeterStore.open(
            path: folder.store, options: .init(onStatement: { sql in statements.withLock { $0.append(sql) } }))
        statements.withLock { $0 = [] }

        try await store.set(.desk, "name", .string("Desk"), at: .minute(0))

        let order = statements.withLock { $0 }.filter {
            $0.hasPrefix("PRAGMA") || $0.hasPrefix("BEGIN") || $0.hasPrefix("COMMIT")
        }
        #expect(
            order == [
                "PRAGMA synchronous = FULL", "PRAGMA synchronous", "BEGIN IMMEDIATE TRANSACTION", "COMMIT TRANSACTION",
                "PRAGMA synchronous = NORMAL",
            ])
    }

    /// What a clock said since one start of the machine means nothing after the next.
    @Test func correction_leavesWritesOfAnotherBoot() async throws {
        let store = try open("a")
        try await store.set(.desk, "name", .string("Desk"), at: .minute(0))
        let before = try await store.record(.desk)
        try store.close()
        let rebooted = try MeterStore.open(
            path: folder.store, options: .init(machine: Machine(digest: "a", boot: "second boot")))

        try await rebooted.correct(clockOffset: .seconds(86_400), at: .minute(5))

        #expect(try await rebooted.record(.desk) == before)
    }
}

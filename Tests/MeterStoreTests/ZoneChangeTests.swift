import Domain
import Gateway
import GatewayAPI
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// A host that moves between two zones of one cloud, whose store has one epoch: with the real store, and scripted
/// clouds.
@Suite(.timeLimit(.minutes(10)))
struct ZoneChangeTests {
    private let folder: TemporaryFolder
    private let loop = VirtualLoop()

    init() throws { folder = try TemporaryFolder() }

    private func open() throws -> MeterStore {
        try MeterStore.open(path: folder.store, options: .init(machine: .here))
    }

    /// - Parameter hasIdentities: false for an older cloud, which gives zones no identities.
    private func clouds(hasIdentities: Bool) -> (lab: ScriptedCloud, home: ScriptedCloud) {
        let lab = ScriptedCloud(zone: "lab", id: hasIdentities ? "1ab" : nil, loop: loop)
        return (lab, ScriptedCloud(zone: "home", id: hasIdentities ? "40e" : nil, loop: loop))
    }

    /// One complete run as a member of this zone.
    private func sync(_ store: MeterStore, with cloud: ScriptedCloud, bringsAll: Bool = false) async throws {
        let host = try await store.hostIdentity()
        let engine = SyncEngine(
            zone: cloud.zone, host: host, bringsAll: bringsAll,
            dependencies: .init(
                link: cloud.link(for: host), repository: store, loop: loop, rng: SystemRandomNumberGenerator()),
            logger: LogBook().logger)
        async let running: Void = engine.run()
        #expect(await engine.synchronise()?.end == .complete)
        await engine.stop()
        await running
    }

    private func set(_ name: String, of meter: MeterID = .one, in store: MeterStore) async throws {
        let change = SettingChange(key: Self.key(meter), property: "name", value: .string(name))
        _ = try await store.write([change], at: HostMoment(wall: loop.wallNow, sinceBoot: loop.now))
    }

    private static func key(_ meter: MeterID) -> RecordKey {
        RecordKey(type: .deviceSettings, name: meter.description)
    }

    private func name(of meter: MeterID = .one, in cloud: ScriptedCloud) -> SettingValue? {
        cloud.records[Self.key(meter)]?.properties["name"]?.value
    }

    private static func foreign(_ numbers: Range<Int>) -> [SyncRecord] {
        numbers.map { number in
            SyncRecord(
                key: RecordKey(type: .deviceSettings, name: MeterID.mac(MACAddress(bits: UInt64(number))).description),
                properties: ["name": Register(value: .int(Int64(number)), stamp: .long(ago: number))])
        }
    }

    @Test(arguments: [true, false])
    func settings_followTheHost_fromAZoneAtAHigherSequence(hasIdentities: Bool) async throws {
        let (lab, home) = clouds(hasIdentities: hasIdentities)
        let store = try open()
        lab.put(Self.foreign(1..<50), by: nil)
        home.put(Self.foreign(100..<103), by: nil)
        try await set("Desk", in: store)
        try await sync(store, with: lab)

        try await sync(store, with: home)

        #expect(name(in: home) == .string("Desk"))
        #expect(try await store.record(Self.foreign(100..<101)[0].key) == Self.foreign(100..<101)[0])
        #expect(try await store.settings(of: .one)["name"] == "Desk")
        #expect(home.records.count == 4)
        #expect(try await store.parked(limit: 100).count { $0.reason == .otherZone } == 49)
    }

    @Test(arguments: [true, false])
    func settings_followTheHost_fromAZoneAtALowerSequence(hasIdentities: Bool) async throws {
        let (lab, home) = clouds(hasIdentities: hasIdentities)
        let store = try open()
        home.put(Self.foreign(100..<150), by: nil)
        try await set("Desk", in: store)
        try await sync(store, with: lab)

        try await sync(store, with: home)

        #expect(name(in: home) == .string("Desk"))
        #expect(home.records.count == 51)
    }

    @Test func metersThatWereMet_areBrought_withOthersSettings() async throws {
        let (lab, home) = clouds(hasIdentities: true)
        let store = try open()
        lab.put(Self.foreign(1..<5), by: nil)
        try await store.save(KnownMeter(id: .mac(MACAddress(bits: 3))))
        try await sync(store, with: lab)

        try await sync(store, with: home)
        #expect(Set(home.records.values) == Set(Self.foreign(3..<4)))

        let office = ScriptedCloud(zone: "office", id: "0ff", loop: loop)
        try await sync(store, with: lab)
        try await sync(store, with: office, bringsAll: true)
        #expect(office.records.count == 4)
        #expect(try await store.progress().parked == 0)
    }

    @Test func deletion_staysInItsZone() async throws {
        let (lab, home) = clouds(hasIdentities: true)
        let store = try open()
        let (desk, theirs) = (Self.key(.mac(MACAddress(bits: 7))), Self.foreign(7..<8))
        lab.put(theirs, by: nil)
        home.put(theirs, by: nil)
        try await sync(store, with: lab)
        _ = try await store.delete(desk, at: HostMoment(wall: loop.wallNow, sinceBoot: loop.now))

        try await sync(store, with: home)
        #expect(home.records[desk]?.isTombstone == false)
        #expect(try await store.record(desk) == theirs[0])

        try await sync(store, with: lab)
        #expect(lab.records[desk]?.isTombstone == true)
        #expect(try await store.record(desk)?.isTombstone == true)
    }

    /// An old copy of the cloud's store is put back: what was acknowledged since is pushed again, by whoever has it.
    @Test func storeThatWentBack_isToldEverythingAgain_othersRecordsToo() async throws {
        let (_, home) = clouds(hasIdentities: true)
        let store = try open()
        let before = home.copy()
        home.put(Self.foreign(1..<5), by: nil)
        try await set("Desk", in: store)
        try await sync(store, with: home)
        let all = home.records
        home.putBack(before)
        #expect(home.records.isEmpty)

        try await sync(store, with: home)

        #expect(home.records == all)
        #expect(try await store.record(Self.key(.one))?.isTombstone == false)
        #expect(try await store.progress().parked == 0)
    }

    @Test func storeThatWentBack_andWasWrittenSince_getsBack_whatItForgot() async throws {
        let (_, home) = clouds(hasIdentities: true)
        let store = try open()
        let before = home.copy()
        home.put(Self.foreign(1..<5), by: nil)
        try await sync(store, with: home)
        home.putBack(before)
        // Beyond the token that the host has.
        home.put(Self.foreign(100..<120), by: nil)

        try await sync(store, with: home)

        #expect(home.records.count == 24)
        #expect(try await store.records(of: .deviceSettings).count == 24)
    }

    @Test func purge_setsAsideWhatTheCloudDoesNotList_andDeletesNothing() async throws {
        let (_, home) = clouds(hasIdentities: true)
        let store = try open()
        home.put(Self.foreign(1..<3), by: nil)
        try await sync(store, with: home)
        home.put([SyncRecord(key: Self.foreign(1..<2)[0].key, deletion: Deletion(stamp: .long(ago: 99)))], by: nil)
        home.raiseFloor()

        try await sync(store, with: home)

        #expect(try await store.records(of: .deviceSettings) == Self.foreign(2..<3))
        let parked = try await store.parked(limit: 9)
        #expect(parked.map(\.reason) == [.unlisted])
        #expect(home.records.count == 1)
        #expect(try await store.restoreParked(parked[0].id) != .unknown)
        try await sync(store, with: home)
        #expect(Set(home.records.values) == Set(Self.foreign(1..<3)))
    }

    /// The answer comes late: the deletion that was sent has stayed with the other zone.
    @Test func refusal_setsNothingAside_whenTheRecordIsGone() async throws {
        let store = try open()
        try await store.adopt(SyncZone(id: "1ab", name: "lab", epoch: "e1"), .everything)
        try await set("Desk", in: store)
        try await store.push()
        _ = try await store.delete(Self.key(.one), at: HostMoment(wall: loop.wallNow, sinceBoot: loop.now))
        let batch = try #require(try await store.nextBatch(recordsMax: 9, bytesMax: .max, of: nil))
        try await store.adopt(SyncZone(id: "40e", name: "home", epoch: "e1"), .another(bringsAll: false))
        #expect(try await store.record(Self.key(.one)) == nil)

        let refused = PushResult(key: Self.key(.one), failure: SyncFailure(.badRequest, "refused"), merged: nil)
        let outcome = try await store.settle(batch, PushOutcome(results: [refused], serverTime: 0))

        #expect(outcome.parked == 0)
        #expect(try await store.parked(limit: 9).isEmpty)
    }

    @Test func progressFromBeforeIdentities_readsAll_andTellsOwn() async throws {
        let (lab, home) = clouds(hasIdentities: true)
        lab.put(Self.foreign(1..<50), by: nil)
        home.put(Self.foreign(100..<103), by: nil)
        let old = try open()
        try await set("Desk", in: old)
        try await sync(old, with: lab)
        try old.close()
        // An earlier version asked the other zone with this zone's tokens, and did not write down a zone.
        try takeBackZones()

        let store = try open()
        #expect(try await store.progress().zone == nil)
        #expect(try await store.progress().tokens.count == RecordType.known.count)
        try await sync(store, with: home)

        #expect(name(in: home) == .string("Desk"))
        #expect(home.records.count == 4)
        #expect(try await store.records(of: .deviceSettings).count == 4)
        #expect(try await store.parked(limit: 100).count == 49)
        #expect(try await store.quickCheck() == [])
    }

    private func takeBackZones() throws { try folder.file.edit(Self.downgrade) }

    private static let downgrade = """
        DROP TABLE aside_register; DROP TABLE aside; DROP TABLE deletion_elsewhere; DROP TABLE visit;
        DROP TABLE membership; DELETE FROM grdb_migrations WHERE identifier LIKE '% zones';
        """

    @Test func zoneThatIsMissing_isMadeWithTheIdentityThatIsKnown() async throws {
        let (_, home) = clouds(hasIdentities: true)
        let store = try open()
        try await sync(store, with: home)
        home.fail(.account, with: SyncFailure(.zoneNotFound, "no zone home"))

        try await sync(store, with: home)

        #expect(home.askedIdentities == ["40e"])
    }

    @Test func absenceOfHalfAYear_tellsOnlyWhatWaits_andLosesNothing() async throws {
        let (_, home) = clouds(hasIdentities: true)
        let store = try open()
        home.put(Self.foreign(1..<3), by: nil)
        try await set("Desk", in: store)
        try await sync(store, with: home)
        try await set("Bench", of: .two, in: store)
        home.restore(as: "e2", without: [Self.foreign(1..<2)[0].key, Self.key(.one)])
        loop.stepWallClock(by: .seconds(200 * 86_400))

        try await sync(store, with: home)

        #expect(name(of: .two, in: home) == .string("Bench"))
        #expect(home.records.count == 2)
        let parked = try await store.parked(limit: 9)
        #expect(parked.map(\.own).sorted { !$0 && $1 } == [false, true])
        #expect(Set(parked.map(\.reason)) == [.unlisted])
    }
}

extension Stamp {
    fileprivate static func long(ago number: Int) -> Stamp {
        Stamp(milliseconds: UInt64(number), counter: 0, host: HostID(high: 9, low: 9))
    }
}

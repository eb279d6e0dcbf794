import Domain
import Gateway
import MeterCodec
import MeterStore
import MeterTestKit
import Synchronization
import Testing

/// Ids that only one host can issue contain its id.
struct OwnIDTests {
    private let folder: TemporaryFolder
    private let old = MeterID.port(host: "raspberrypi", path: "/dev/ttyUSB0")
    private let plug = MeterID.usbPort(vendor: 0x2E3C, product: 0x0049, host: "raspberrypi", path: "1-2")

    init() throws { folder = try TemporaryFolder() }

    private func key(_ id: MeterID) -> RecordKey { RecordKey(type: .deviceSettings, name: id.description) }

    /// A store left by a version that named the host by its name.
    private func makeOldStore() async throws {
        let store = try MeterStore.open(path: folder.store)
        for id in [old, plug, .one] { try await store.save(KnownMeter(id: id, model: .um25c, isWanted: id != plug)) }
        try await store.append([.minute(0, of: old), .minute(0)])
        let moment = HostMoment(wall: WallTime(millisecondsSince1970: 1_795_000_000_000), sinceBoot: .origin)
        let change = SettingChange(key: key(old), property: "name", value: .string("Bench"))
        _ = try await store.write([change], at: moment)
        try store.close()
    }

    @Test func idsByName_becomeThisHostsOwn_withWishAndReadings() async throws {
        try await makeOldStore()

        let store = try MeterStore.open(path: folder.store)

        let host = store.identity.host
        let known = try await store.meters()
        #expect(Set(known.map(\.id)) == [.one, old.given(by: host), plug.given(by: host)])
        #expect(known.first { $0.id == old.given(by: host) }?.isWanted == true)
        let all = WallTime(millisecondsSince1970: 0)..<WallTime(millisecondsSince1970: .max)
        #expect(try await store.samples(of: old.given(by: host), in: all, limit: 1000).count == 120)
        #expect(try await store.samples(of: old, in: all, limit: 1000).isEmpty)
        #expect(try await store.formerIDs() == [old: old.given(by: host), plug: plug.given(by: host)])
    }

    @Test func settings_areCopiedWithTheirStamps_andTheOldOnesStay() async throws {
        try await makeOldStore()

        let store = try MeterStore.open(path: folder.store)

        let before = try #require(try await store.record(key(old)))
        let copy = try #require(try await store.record(key(old.given(by: store.identity.host))))
        #expect(copy.properties == before.properties)
        #expect(before.deletion == nil && before.properties["name"]?.value == .string("Bench"))
        let told = try await store.nextBatch(recordsMax: 10, bytesMax: 100_000)?.records.map(\.key)
        #expect(Set(told ?? []) == [before.key, copy.key])
    }

    @Test func secondOpening_changesNothing() async throws {
        try await makeOldStore()
        try MeterStore.open(path: folder.store).close()
        let copy = { (store: MeterStore) in try await (store.meters(), store.records(of: .deviceSettings)) }

        let first = try MeterStore.open(path: folder.store)
        let before = try await copy(first)
        try first.close()
        let after = try await copy(try MeterStore.open(path: folder.store))

        #expect(before.0 == after.0 && before.1 == after.1)
    }

    /// A card that was copied: the other machine's ports are not this one's.
    @Test func idsOfAnotherMachine_becomeThisHostsOwn() async throws {
        func open(_ digest: String) throws -> MeterStore {
            try MeterStore.open(path: folder.store, options: .init(machine: Machine(digest: digest, boot: "b")))
        }
        let first = try open("one")
        let (before, here) = (first.identity.host, MeterID.port(host: "pi", path: "/dev/ttyUSB0"))
        try await first.save(KnownMeter(id: here.given(by: before)))
        try first.close()

        let second = try open("two")

        #expect(second.identity.host != before)
        #expect(try await second.meters().map(\.id) == [here.given(by: second.identity.host)])
    }

    /// A card that was copied after the ids by name had become the first machine's own: both kinds of former ids lead to
    /// the present one, and readings and log are found under it.
    @Test func id_isFoundUnderEachOfItsFormerOnes() async throws {
        try await makeOldStore()
        func open(_ digest: String) throws -> MeterStore {
            try MeterStore.open(path: folder.store, options: .init(machine: Machine(digest: digest, boot: "b")))
        }
        let first = try open("one")
        let between = [old, plug].map { $0.given(by: first.identity.host) }
        try first.close()

        let second = try open("two")

        let now = [old, plug].map { $0.given(by: second.identity.host) }
        #expect(Set(try await second.meters().map(\.id)) == Set(now + [.one]))
        #expect(
            try await second.formerIDs() == [old: now[0], plug: now[1], between[0]: now[0], between[1]: now[1]])
        #expect(try await second.allSamples(of: now[0]).count == 120)
        #expect(try await second.allSamples().count == 120)
        try second.close()
    }

    @Test func port_thatIsKnownUnderTwoNames_isWantedUnderItsOwn() async throws {
        let made = try MeterStore.open(path: folder.store)
        let own = old.given(by: made.identity.host)
        try await made.save(KnownMeter(id: own, isWanted: true))
        try await made.save(KnownMeter(id: old, model: .um25c, isDeclared: true, isWanted: true))
        try await made.append([.minute(0, of: old), .minute(1, of: own)])
        try made.close()

        let store = try MeterStore.open(path: folder.store)

        let known = try await store.meters()
        #expect(Set(known) == [KnownMeter(id: own, isWanted: true), KnownMeter(id: old, model: .um25c)])
        #expect(try await store.formerIDs() == [:])
        #expect(try await store.allSamples(of: old) == SampleChunk.minute(0).samples(), "what was read under it stays")
        try store.close()
    }

    @Test func opening_writesNothing_whereNothingIsNew() async throws {
        try await makeOldStore()
        try MeterStore.open(path: folder.store, options: .init(machine: .here)).close()
        let written = Mutex<[String]>([])

        let store = try MeterStore.open(
            path: folder.store,
            options: .init(
                machine: .here,
                onStatement: { sql in
                    if ["INSERT", "UPDATE", "DELETE"].contains(where: sql.hasPrefix) {
                        written.withLock { $0.append(sql) }
                    }
                }))

        #expect(written.withLock { $0 } == [])
        try store.close()
    }

    @Test func meter_thatIsForgotten_hasNoReadingsAnyMore() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append([.minute(0), .minute(1), .minute(0, of: .two)])
        while try await store.rollUp() > 0 {}

        #expect(try await store.deleteReadings(of: .one) == 240)

        let all = WallTime(millisecondsSince1970: 0)..<WallTime(millisecondsSince1970: .max)
        #expect(try await store.samples(of: .one, in: all, limit: 1000).isEmpty)
        #expect(try await store.samples(of: .two, in: all, limit: 1000).count == 120)
        #expect(try await store.deleteReadings(of: .one) == 0)
    }
}

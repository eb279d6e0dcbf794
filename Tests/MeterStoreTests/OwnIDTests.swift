import Gateway
import MeterCodec
import MeterModel
import MeterStore
import MeterTestKit
import SettingsCore
import SyncCore
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

import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// A service on a new store, with a calendar set by the test.
private final class SettingsBench: Sendable {
    let access = ScriptedAccess()
    let store: MeterStore
    let log = LogBook()
    let listener = Listener()
    let service: SettingsService

    init() async {
        store = .temporary(through: access)
        service = SettingsService(
            repository: store,
            now: { HostMoment(wall: WallTime(millisecondsSince1970: 1_795_000_000_000), sinceBoot: .origin) },
            logger: log.logger)
        await service.subscribe { [listener] in listener.hear($0) }
    }

    /// Applies a record as a page from the cloud does.
    func receive(_ record: SyncRecord) async throws {
        let page = ChangesPage(type: record.key.type, records: [record], token: "t", moreComing: false, epoch: "e")
        await service.merged(try await store.apply(page))
    }

    func failure(_ request: (SettingsService) async throws -> some Sendable) async -> GatewayError? {
        do {
            _ = try await request(service)
            return nil
        } catch {
            return error as? GatewayError
        }
    }

    final class Listener: Sendable {
        private let heard = Mutex<[[MeterID]]>([])
        var meters: [[MeterID]] { heard.withLock { $0 } }

        func hear(_ news: SettingsNews) { heard.withLock { $0.append(news.settings.map(\.meter)) } }
    }
}

private let elsewhere = HostID(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)

private func remote(
    _ values: [String: SettingValue], at milliseconds: UInt64, of name: String = MeterID.um.description,
    type: RecordType = .deviceSettings
) -> SyncRecord {
    let stamp = Stamp(milliseconds: milliseconds, counter: 0, host: elsewhere)
    return SyncRecord(
        key: RecordKey(type: type, name: name), properties: values.mapValues { Register(value: $0, stamp: stamp) })
}

private let later: UInt64 = 1_795_000_100_000

@Suite(.timeLimit(.minutes(10)))
struct SettingsServiceTests {
    @Test func settings_areSetAndRead() async throws {
        let bench = await SettingsBench()

        let texts = try await bench.service.set(["name": "Bench", "poll-interval": "2s"], of: .um, for: nil)

        #expect(texts == ["name": "Bench", "poll-interval": "2s"])
        #expect(try await bench.service.read(.um).settings.pollInterval == .seconds(2))
        #expect(try await bench.service.texts(of: .tc).isEmpty)
    }

    @Test func null_takesASettingBack_andWhatWasNeverSetIsNoNews() async throws {
        let bench = await SettingsBench()
        _ = try await bench.service.set(["name": "Bench"], of: .um, for: nil)

        let texts = try await bench.service.set(["name": nil, "notes": nil], of: .um, for: nil)

        #expect(texts.isEmpty)
        let record = try #require(try await bench.store.record(.settings(of: .um)))
        #expect(record.properties.keys.sorted() == ["name"])
        #expect(record.properties["name"]?.value == .null)
    }

    @Test func illegalValue_changesNothing() async throws {
        let bench = await SettingsBench()

        let failure = await bench.failure {
            try await $0.set(
                ["name": "Bench", "brightness": "9"], of: .um, for: MeterCatalogue.standard.driver(for: .um25c)?.profile
            )
        }

        #expect(failure?.next == "it takes a whole number from 0 to 5")
        #expect(try await bench.store.record(.settings(of: .um)) == nil)
        #expect(await bench.service.refreshVersion == 0)
    }

    @Test func unknownProperties_areKept() async throws {
        let bench = await SettingsBench()
        try await bench.receive(remote(["of-the-future": .double(1.5), "name": .string("Bench")], at: 5))

        let texts = try await bench.service.set(["name": "Desk"], of: .um, for: nil)

        #expect(texts == ["name": "Desk", "of-the-future": "1.5"])
    }

    @Test func delete_takesAllBack_andALaterWriteRevives() async throws {
        let bench = await SettingsBench()
        _ = try await bench.service.set(["name": "Bench", "notes": "x"], of: .um, for: nil)

        try await bench.service.delete(of: .um)
        let deleted = try await bench.service.texts(of: .um)
        let revived = try await bench.service.set(["name": "Desk"], of: .um, for: nil)

        #expect(deleted.isEmpty)
        #expect(revived == ["name": "Desk"])
    }

    @Test func storeThatFails_isSaid() async {
        let bench = await SettingsBench()
        bench.access.failWrites(with: StoreError(.diskFull, "no space is left in /var/lib/meterd"))

        let failure = await bench.failure { try await $0.set(["name": "Bench"], of: .um, for: nil) }

        #expect(failure?.code == .store)
        #expect(failure?.message.contains("no space is left") == true)
    }

    // MARK: What changed

    @Test func refreshVersion_rises_withEachMerge_ofHereAndElsewhere() async throws {
        let bench = await SettingsBench()
        let subscription = bench.service.refreshes.subscribe()

        _ = try await bench.service.set(["name": "Bench"], of: .um, for: nil)
        try await bench.receive(remote(["name": .string("Desk")], at: later))
        try await bench.receive(remote(["name": .string("pi")], at: later, of: "\(elsewhere)", type: .host))
        try await bench.receive(remote(["name": .string("Desk")], at: later))

        #expect(await bench.service.refreshVersion == 3)
        var versions = subscription.makeAsyncIterator()
        for expected in UInt64(1)...3 { #expect(await versions.next()?.value == expected) }
    }

    @Test func localChange_isOneMadeHere() async throws {
        let bench = await SettingsBench()
        let subscription = bench.service.localChanges.subscribe()

        try await bench.receive(remote(["name": .string("Desk")], at: later))
        _ = try await bench.service.set(["name": "Bench"], of: .um, for: nil)
        try await bench.receive(remote(["name": .string("Attic")], at: later + 1_000_000))
        try await bench.service.delete(of: .um)

        var versions = subscription.makeAsyncIterator()
        #expect(await versions.next()?.value == 2)
        #expect(await versions.next()?.value == 4)
    }

    @Test func meters_areThoseThatAnythingIsSetFor() async throws {
        let bench = await SettingsBench()
        _ = try await bench.service.set(["name": "Bench"], of: .um, for: nil)
        try await bench.receive(remote(["notes": .string("x")], at: later, of: "\(MeterID.tc)"))
        try bench.store.plant([
            remote(["name": .string("old")], at: 1, of: "02000000250C"),
            remote(["name": .string("?")], at: 1, of: "no meter"),
        ])

        let meters = try await bench.service.meters()

        #expect(meters.map(\.id) == [.um, .tc].sorted())
        #expect(meters.first { $0.id == .um }?.name == "Bench")
        try await bench.service.delete(of: .um)
        try await bench.service.delete(of: .tc)
        #expect(try await bench.service.meters().allSatisfy { $0.name == "old" })
    }

    @Test func listener_hearsOfMeters_andOfNothingElse() async throws {
        let bench = await SettingsBench()

        try await bench.receive(remote(["name": .string("Desk")], at: later))
        try await bench.receive(remote(["name": .string("pi")], at: later, of: "\(elsewhere)", type: .host))
        try await bench.receive(remote(["name": .string("x")], at: later, of: "no meter"))

        #expect(bench.listener.meters == [[.um]])
    }

    @Test func recordUnderAnOlderName_isTheMeters() async throws {
        let bench = await SettingsBench()

        try await bench.receive(remote(["name": .string("Desk")], at: later, of: "02000000250c"))

        #expect(try await bench.service.texts(of: .um) == ["name": "Desk"])
        #expect(bench.listener.meters == [[.um]])
    }

    // MARK: History

    @Test func history_saysWhatWasLost_andWhoDidIt() async throws {
        let bench = await SettingsBench()
        try await bench.service.publish(hostName: "shed")
        _ = try await bench.service.set(["poll-interval": "2s"], of: .um, for: nil)
        try await bench.receive(remote(["name": .string("attic")], at: later, of: "\(elsewhere)", type: .host))
        try await bench.receive(remote(["poll-interval": .int(5000)], at: later))

        let history = try await bench.service.history(of: .um)

        let loss = try #require(history.first)
        #expect(history.count == 1)
        #expect(loss.key == "poll-interval")
        #expect(loss.old == "2s")
        #expect(loss.new == "5s")
        #expect(loss.written.host == "shed")
        #expect(loss.overwritten.host == "attic")
        #expect(loss.overwritten.host_id == "\(elsewhere)")
        #expect(loss.overwritten.at == "\(WallTime(millisecondsSince1970: Int64(later)))")
        #expect(!loss.deleted)
    }

    @Test func history_saysWhoBroughtIt_byName() async throws {
        let bench = await SettingsBench()
        let bringer = HostID(high: 0x4000, low: 0x8000_0000_0000_0009)
        _ = try await bench.service.set(["poll-interval": "2s"], of: .um, for: nil)
        try await bench.receive(remote(["name": .string("attic")], at: later, of: "\(bringer)", type: .host))
        try await bench.receive(remote(["poll-interval": .int(5000)], at: later).brought(by: bringer))

        let loss = try #require(try await bench.service.history(of: .um).first)

        #expect(loss.overwritten.host_id == "\(elsewhere)")
        #expect(loss.overwritten.brought_by_id == "\(bringer)")
        #expect(loss.overwritten.brought_by == "attic")
        #expect(loss.written.brought_by_id == nil)
    }

    @Test func history_isOfOneSetting_whereThatIsAsked() async throws {
        let bench = await SettingsBench()
        for name in ["a", "b", "c"] {
            _ = try await bench.service.set(["name": name, "notes": name], of: .um, for: nil)
        }
        try await bench.service.delete(of: .um)

        let names = try await bench.service.history(of: .um, key: "name")
        let last = try await bench.service.history(of: .um, key: "name", limit: 1)

        #expect(names.map(\.old) == ["c", "b", "a"])
        #expect(names.map(\.deleted) == [true, false, false])
        #expect(last.map(\.old) == ["c"])
    }

    // MARK: This host

    @Test func hostName_isPublishedOnce() async throws {
        let bench = await SettingsBench()

        try await bench.service.publish(hostName: "pi")
        try await bench.service.publish(hostName: "pi")

        #expect(await bench.service.refreshVersion == 1)
        let host = try await bench.store.hostIdentity()
        let record = try await bench.store.record(RecordKey(type: .host, name: "\(host)"))
        #expect(record?.properties["name"]?.value == .string("pi"))
    }
}

import Domain
import Foundation
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Files that programs of earlier versions have really written.
struct EarlierVersionTests {
    private static let host = "42266b5e-fbc5-4bf7-b670-e8aad98dc59c"
    private static let machine = Machine(digest: String(repeating: "0", count: 63) + "1", boot: "a later boot")
    private static let meter = "02:00:00:00:25:0C"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/meterd-b2dd1a7.sql")
        try folder.file.create(from: file)
    }

    private func open() throws -> MeterStore {
        try MeterStore.open(path: folder.store, options: .init(machine: Self.machine))
    }

    @Test func file_isBroughtAlong_withAllThatItHeld() async throws {
        let meter = try #require(MeterID(Self.meter))
        let settings = RecordKey(type: .deviceSettings, name: Self.meter)

        let store = try open()

        #expect(store.identity == HostIdentity(host: try #require(HostID(Self.host))))
        #expect(store.setAside == nil)
        #expect(try await store.quickCheck() == [])
        #expect(try await store.meters().map(\.id) == [meter])
        #expect(try await store.meters().map(\.isWanted) == [true])
        #expect(try await store.leaseSession()?.description == "d7011e12-fc62-445a-896b-0bb39da8f86c")
        let record = try #require(try await store.record(settings))
        #expect(
            record.properties.mapValues(\.value) == [
                "name": .null, "notes": .string("of a, not told"), "poll-interval": .int(1000),
            ])
        #expect(record.properties.values.allSatisfy { $0.broughtBy == nil })
        #expect(try await store.records(of: .host).map { $0.properties["name"]?.value }.count == 2)
        let recording = try #require(try await store.records(of: .recording).first)
        #expect(recording.properties["readings"]?.value == .int(4))
        let mark = Mark(
            id: RecordingID(
                host: store.identity.host, meter: meter, token: 0, started: WallTime(millisecondsSince1970: 5)),
            name: "a", end: nil)
        #expect(try await store.localMarks().isEmpty)
        try await store.keepLocal(mark, countMax: 1)
        #expect(try await store.localMarks() == [mark])
        let history = try await store.history(of: settings, property: "notes", limit: 9)
        #expect(history.map(\.overwritten.old.value) == [.string("of b, changed"), .string("of b")])
    }

    @Test func log_beginsEmpty_andIsKeptFromThenOn() async throws {
        let meter = try #require(MeterID(Self.meter))
        let store = try open()
        #expect(try await store.lastLogNumber() == 0)
        let moment = LogMoment(wall: WallTime(millisecondsSince1970: 1_795_000_000_000), sinceBoot: .origin)
        let line = StoredLogLine(
            number: 1, meter: meter, entry: LogEntry(.state(.offline, cause: "device gone"), first: moment))

        try await store.keepLog([line], countMax: 9)
        try store.close()

        #expect(try await open().log(of: [meter], limit: 9) == [line])
    }

    /// Progress from before zones had identities: the next run finds out which zone it belongs to.
    @Test func whatWaitedToBeTold_stillDoes_andNothingElse() async throws {
        let store = try open()

        let progress = try await store.progress()
        #expect(progress.pending == 2)
        #expect((progress.zone, progress.heldBack, progress.parked) == (nil, 0, 0))
        #expect(progress.tokens[.deviceSettings] == "v1.56d8e417-bcc1-40b6-a8d2-98eaf9dd4c09.5")
        let batch = try #require(try await store.nextBatch(recordsMax: 9, bytesMax: 100_000))
        #expect(batch.records.map(\.key.name) == [Self.meter])
        #expect(batch.records.first?.properties.keys.sorted() == ["name", "notes"])
    }

    @Test func secondOpening_findsItAsTheFirstLeftIt() async throws {
        let first = try open()
        let before = try await first.records(of: .deviceSettings) + first.records(of: .recording)
        try await first.keepLeaseSession(SessionID(high: 1, low: 1))
        try first.close()

        let second = try open()

        #expect(try await second.records(of: .deviceSettings) + second.records(of: .recording) == before)
        #expect(try await second.progress().pending == 2)
    }
}

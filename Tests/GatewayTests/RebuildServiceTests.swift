import Domain
import Gateway
import GatewayAPI
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RebuildServiceTests {
    private let access = ScriptedAccess()
    private let store: MeterStore
    private let log = LogBook()
    private let settings: SettingsService

    init() {
        store = .temporary(through: access)
        settings = SettingsService(
            repository: store, now: { HostMoment(wall: .epoch, sinceBoot: .origin) }, logger: log.logger)
    }

    private func rebuild(hasFetched: Bool = true) -> RebuildService {
        RebuildService(
            settings: settings, wallNow: { .epoch }, hasFetched: { hasFetched }, logger: log.logger)
    }

    /// Stores meters each of which has a record under its normal name and under an older one.
    private func plant(_ count: Int) throws {
        let host = HostID(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)
        let records = (1...count).flatMap { index in
            let id = MACAddress(bits: UInt64(index)).description
            return [(id, "new"), (id.lowercased().filter { $0 != ":" }, "old")].map { name, value in
                let stamp = Stamp(milliseconds: value == "new" ? 2 : 1, counter: 0, host: host)
                return SyncRecord(
                    key: RecordKey(type: .deviceSettings, name: name),
                    properties: [
                        "name": Register(value: .string(value), stamp: stamp),
                        value: Register(value: .bool(true), stamp: stamp),
                    ])
            }
        }
        try store.plant(records)
    }

    @Test func rebuild_foldsOlderNames_once() async throws {
        try plant(600)
        let rebuild = rebuild()
        let steps = rebuild.progress.subscribe()

        let outcome = try await rebuild.run()
        let again = try await rebuild.run()

        guard case .complete(let progress) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(progress.folded == 600)
        #expect(progress.isComplete)
        // The last rebuild may have been of an empty store.
        guard case .complete(let second) = again else { return #expect(Bool(false), "\(again)") }
        #expect(second.scanned == 1200)
        #expect(second.folded == 0)
        var iterator = steps.makeAsyncIterator()
        #expect(await iterator.next()?.value.scanned == RebuildService.stepLength)
        let record = try await store.record(RecordKey(type: .deviceSettings, name: "00:00:00:00:00:01"))
        #expect(record?.properties["name"]?.value == .string("new"))
        #expect(record?.properties["old"]?.value == .bool(true))
        #expect(await settings.refreshVersion >= 1)
    }

    @Test func rebuild_stopsBetweenSteps_andGoesOnThere() async throws {
        try plant(600)
        let rebuild = rebuild()
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await rebuild.run()
        }

        let stopped = try await cancelled.value
        let outcome = try await rebuild.run()

        #expect(stopped == .cancelled(RebuildProgress(version: RebuildPlan.version)))
        guard case .complete(let progress) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(progress.folded == 600)
    }

    @Test func rebuild_isRefused_beforeTheFirstFetch() async throws {
        try plant(1)
        let rebuild = rebuild(hasFetched: false)

        let error = await #expect(throws: GatewayError.self) { try await rebuild.run() }

        #expect(error?.code == .refused)
        #expect(try await rebuild.status().scanned == 0)
    }

    @Test func dryRun_tellsAndChangesNothing() async throws {
        try plant(30)
        let rebuild = rebuild()

        let report = try await rebuild.report()

        #expect(report.folded == 30)
        #expect(report.examples.count == 20)
        #expect(report.examples.first?.moved == ["old"])
        #expect(report.examples.first?.kept == ["name"])
        #expect(try await rebuild.status().scanned == 0)
    }

    @Test func rebuild_saysThatTheStoreFails() async throws {
        try plant(1)
        access.failWrites(with: StoreError(.diskFull, "no space is left"))
        let rebuild = rebuild()

        let error = await #expect(throws: GatewayError.self) { try await rebuild.run() }

        #expect(error?.code == .store)
    }
}

extension WallTime {
    fileprivate static let epoch = WallTime(millisecondsSince1970: 1_795_000_000_000)
}

import Domain
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// The date that ages count from, and what deletion by age spares.
struct RetentionTests {
    private let folder: TemporaryFolder
    private let always = WallTime(millisecondsSince1970: .max)

    init() throws { folder = try TemporaryFolder() }

    private func minutes(_ numbers: Range<Int>) -> [SampleChunk] { numbers.map { .minute($0) } }

    /// The minutes from `first` to `last` have dates that nobody confirmed before `confirmed`.
    private func doubt(_ first: Int, _ last: Int, confirmed: WallTime? = nil) -> BelievedDate {
        let doubt = BelievedDate.Doubt(
            first: SampleChunk.minute(first).first, last: SampleChunk.minute(last).last, confirmed: confirmed)
        return BelievedDate(date: SampleChunk.minute(last).last, doubts: [doubt])
    }

    @Test func date_isKept() async throws {
        let store = try MeterStore.open(path: folder.store)
        #expect(try await store.believed() == nil)
        let believed = doubt(3, 4, confirmed: SampleChunk.minute(9).first)

        try await store.save(doubt(1, 2))
        try await store.save(believed)
        try store.close()

        #expect(try await MeterStore.open(path: folder.store).believed() == believed)
    }

    @Test func newestAndNextReading_areFound() async throws {
        let store = try MeterStore.open(path: folder.store)
        #expect(try await store.newestStored() == nil)
        #expect(try await store.firstStored(after: WallTime(millisecondsSince1970: 0)) == nil)
        try await store.append(minutes(10..<12) + [.minute(5, of: .two), .minute(20, of: .two)])

        #expect(try await store.newestStored() == SampleChunk.minute(20).last)
        #expect(try await store.firstStored(after: WallTime(millisecondsSince1970: 0)) == SampleChunk.minute(5).first)
        let within = SampleChunk.minute(10).first + .seconds(30)
        #expect(try await store.firstStored(after: within) == within + .milliseconds(1))
        #expect(try await store.firstStored(after: SampleChunk.minute(11).last) == SampleChunk.minute(20).first)
        #expect(try await store.firstStored(after: SampleChunk.minute(20).last) == nil)
    }

    /// A host without readings has dates too: of what was overwritten and of deletions.
    @Test func datesOfSettings_count() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.set(.desk, "name", .string("Desk"), at: .minute(1))
        #expect(try await store.newestStored() == nil)
        try await store.set(.desk, "name", .string("Shelf"), at: .minute(2))
        try await store.set(RecordKey(type: .host, name: "shed"), "name", .string("Shed"), at: .minute(3))
        _ = try await store.delete(RecordKey(type: .host, name: "shed"), at: .minute(5))

        let times = [2, 5].map { HostMoment.minute($0).wall }
        #expect(try await store.newestStored() == times[1])
        #expect(try await store.firstStored(after: WallTime(millisecondsSince1970: 0)) == times[0])
        #expect(try await store.firstStored(after: times[0]) == times[1])
        #expect(try await store.firstStored(after: times[1]) == nil)
    }

    @Test func doubtedReadings_areSpared_untilTheyHaveAged() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append(minutes(0..<10))
        let confirmed = SampleChunk.minute(100).first

        try await store.save(doubt(2, 3))
        #expect(try await store.prune(before: always, maxBytes: .max) == 8 * 120)
        try await store.save(doubt(2, 3, confirmed: confirmed))
        #expect(try await store.prune(before: confirmed, maxBytes: .max) == 0)
        #expect(try await store.prune(before: confirmed + .milliseconds(1), maxBytes: .max) == 2 * 120)
    }

    @Test func limitOfSize_holdsForDoubtedReadings() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append(minutes(0..<10))
        try await store.save(doubt(0, 9))

        #expect(try await store.prune(before: WallTime(millisecondsSince1970: .min), maxBytes: 0) == 10 * 120)
    }

    @Test func doubtedMinutes_areSpared() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append(minutes(0..<300))
        while try await store.rollUp() > 0 {}
        let before = try await buckets(store)

        try await store.save(doubt(0, 299))
        try await store.expire(.minute, before: always)
        #expect(try await buckets(store) == before)
        try await store.save(BelievedDate(date: SampleChunk.minute(299).last))
        try await store.expire(.minute, before: always)
        #expect(try await buckets(store) == 0)
    }

    private func buckets(_ store: MeterStore) async throws -> Int {
        let span = WallTime(millisecondsSince1970: 0)..<always
        return try await store.buckets(.minute, of: .one, in: span).count
    }

    @Test func doubtedHistory_isSpared() async throws {
        let store = try MeterStore.open(path: folder.store)
        let desk = RecordKey(type: .deviceSettings, name: MeterID.one.description)
        for (minute, value) in [(0, "a"), (1, "b"), (2, "c")] {
            let change = SettingChange(key: desk, property: "name", value: .string(value))
            _ = try await store.write([change], at: .minute(minute))
        }
        func left() async throws -> Int { try await store.history(of: desk, property: nil, limit: 9).count }

        try await store.save(doubt(0, 2))
        try await store.cleanUp(now: always)
        #expect(try await left() == 2)
        try await store.save(BelievedDate(date: SampleChunk.minute(2).last))
        try await store.cleanUp(now: always)
        #expect(try await left() == 0)
    }

    /// A file made by the version before has readings, but no date yet.
    @Test func olderStore_getsItsTables() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append(minutes(0..<3))
        try store.close()
        try folder.file.edit(
            """
            DROP TABLE believed_date; DROP TABLE doubted_date;
            DELETE FROM grdb_migrations WHERE identifier = '6 the date that ages count from';
            """)

        let upgraded = try MeterStore.open(path: folder.store)

        #expect(try await upgraded.believed() == nil)
        #expect(try await upgraded.newestStored() == SampleChunk.minute(2).last)
        try await upgraded.save(doubt(0, 1))
        #expect(try await upgraded.believed() == doubt(0, 1))
    }
}

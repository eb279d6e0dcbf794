import Domain
import Foundation
import GRDB
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// Seconds, minutes and hours.
struct TierTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: TierRepositoryContract.clauses)
    func store_keepsTheTierContract(_ clause: TierRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store))
    }

    /// Ten readings within a second in each minute of four hours: few, and yet more than one step of work.
    private static let few = (0..<240).compactMap { burst(minute: $0) }
    private static let fewCount = 2400.0

    /// Readings in quick succession, from the beginning of a minute on.
    private static func burst(minute: Int, readings: Int = 10) -> SampleChunk? {
        var builder = SampleChunkBuilder(meter: .one)
        for number in 0..<readings {
            var reading = Reading()
            reading[.voltage] = Double((minute * readings + number) * 7919 % 10_007) / 1000
            builder.append(SampleChunk.minute(minute).first + .milliseconds(100 * number), reading)
        }
        return builder.finish()
    }

    /// Four hours that begin with `SampleChunk.minute(0)`, by minutes: the extremes, and the number of minutes.
    private func extremes(in store: MeterStore) async throws -> [Double] {
        let first = SampleChunk.minute(0).first
        let builder = SeriesBuilder(
            span: first..<first + .seconds(4 * 3600), points: 240, quantities: [.voltage])
        let series = try await store.fill(builder, of: .one).finish()
        #expect(series.tier == .minute)
        return series.columns.flatMap { $0.minima.compactMap(\.self) + $0.maxima.compactMap(\.self) }
            + [Double(series.times.count)]
    }

    /// Number of readings that each tier counts, straight from the file.
    private func readings(in tier: SampleTier, at path: String) throws -> Double {
        try DatabaseQueue(path: path).read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT block_ms, bytes FROM sample_tier WHERE tier = ?", arguments: [tier.rawValue])
            return try rows.reduce(0.0) { sum, row in
                let bytes: [UInt8] = [UInt8](row[1] as Data)
                let block = try SampleBucketBlock(
                    tier: tier, start: WallTime(millisecondsSince1970: row[0]), bytes: bytes)
                return sum + block.buckets.reduce(0) { $0 + ($1.counts[.voltage] ?? 0) }
            }
        }
    }

    private func chunks(at path: String) throws -> Int {
        try DatabaseQueue(path: path).read { db in try Int.fetchOne(db, sql: "SELECT sum(count) FROM sample_chunk") ?? 0
        }
    }

    @Test func rollUp_countsEachReadingOnce_whenKilledAtAnyStatement() async throws {
        let made = try MeterStore.open(path: folder.store)
        try await made.append(Self.few)
        let whole = try await extremes(in: made)
        try made.close()
        let recorder = CopyAtEachStatement(folder)
        let store = try MeterStore.open(path: folder.store, options: .init(onStatement: recorder.statementBegins))

        recorder.isOn.withLock { $0 = true }
        while try await store.rollUp() > 0 {}
        recorder.isOn.withLock { $0 = false }
        try store.close()

        let copies = try recorder.copies()
        #expect(recorder.moments > 10)
        for copy in copies {
            let again = try MeterStore.open(path: copy)
            #expect(try await extremes(in: again) == whole, "\(copy), as it was left")
            while try await again.rollUp() > 0 {}
            #expect(try await extremes(in: again) == whole, "\(copy), once all is summed up")
            #expect(try await again.quickCheck() == [])
            try again.close()
            #expect(try readings(in: .minute, at: copy) == Self.fewCount, "\(copy)")
            #expect(try readings(in: .hour, at: copy) == Self.fewCount, "\(copy)")
        }
    }

    @Test func thin_losesNoReading_whenKilledAtAnyStatement() async throws {
        let made = try MeterStore.open(path: folder.store)
        try await made.append(Self.few)
        while try await made.rollUp() > 0 {}
        try made.close()
        let recorder = CopyAtEachStatement(folder)
        let store = try MeterStore.open(path: folder.store, options: .init(onStatement: recorder.statementBegins))

        recorder.isOn.withLock { $0 = true }
        while try await store.thin(before: WallTime(millisecondsSince1970: .max)) > 0 {}
        recorder.isOn.withLock { $0 = false }
        try store.close()

        let copies = try recorder.copies()
        #expect(recorder.moments > 10)
        for copy in copies {
            let again = try MeterStore.open(path: copy)
            #expect(try await again.quickCheck() == [])
            try again.close()
            #expect(try chunks(at: copy) + Int(try readings(in: .second, at: copy)) == Int(Self.fewCount), "\(copy)")
            #expect(try readings(in: .minute, at: copy) == Self.fewCount)
        }
    }

    /// Others wait no longer for many small chunks than for many readings: a small one counts as a hundred.
    @Test(arguments: [(240, 10, [2000, 400]), (40, 600, [20_400, 3600])])
    func rollUp_andThin_goInSteps(chunks: Int, readings: Int, steps: [Int]) async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append((0..<chunks).compactMap { Self.burst(minute: $0, readings: readings) })

        for step in steps + [0] { #expect(try await store.rollUp() == step) }
        for step in steps + [0] {
            #expect(try await store.thin(before: WallTime(millisecondsSince1970: .max)) == step)
        }
        try store.close()
    }

    /// Ten readings a second for ten minutes.
    private static let fast = (0..<10).compactMap { burst(minute: $0, readings: 600) }

    @Test func fastReadings_takeLessRoom_asSeconds() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append(Self.fast)
        while try await store.rollUp() > 0 {}
        while try await store.thin(before: WallTime(millisecondsSince1970: .max)) > 0 {}
        try store.close()

        let seconds = try await DatabaseQueue(path: folder.store).read { db in
            try Int.fetchOne(db, sql: "SELECT sum(length(bytes)) FROM sample_tier WHERE tier = 1000") ?? 0
        }
        #expect(seconds > 0)
        #expect(seconds < Self.fast.reduce(0) { $0 + $1.bytes.count })
    }

    @Test func damagedChunk_isPassedOver_andStays() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append((0..<3).map { .minute($0) })
        try store.close()
        try folder.file.edit("UPDATE sample_chunk SET bytes = zeroblob(length(bytes)) WHERE id = 2")
        let again = try MeterStore.open(path: folder.store)

        while try await again.rollUp() > 0 {}
        #expect(try await again.thin(before: WallTime(millisecondsSince1970: .max)) == 0)

        try again.close()
        #expect(try readings(in: .minute, at: folder.store) == 240)
        #expect(try chunks(at: folder.store) == 360)
    }

    @Test func secondsGo_whenTheStoreIsTooLarge_andMinutesStay() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append(Self.fast)
        while try await store.rollUp() > 0 {}
        while try await store.thin(before: WallTime(millisecondsSince1970: .max)) > 0 {}

        _ = try await store.prune(before: WallTime(millisecondsSince1970: .min), maxBytes: 0)

        try store.close()
        #expect(try readings(in: .second, at: folder.store) == 0)
        #expect(try readings(in: .minute, at: folder.store) == 6000)
    }

    /// Readings of a store from before there were minutes are aggregated like any others.
    @Test func olderStore_isSummedUp() async throws {
        let made = try MeterStore.open(path: folder.store)
        try await made.append(Self.few)
        try made.close()
        try folder.file.edit(
            """
            DROP TABLE sample_tier;
            DROP TABLE rollup;
            DELETE FROM grdb_migrations WHERE identifier LIKE '3 %';
            """)

        let store = try MeterStore.open(path: folder.store)
        while try await store.rollUp() > 0 {}
        try store.close()

        #expect(try readings(in: .hour, at: folder.store) == Self.fewCount)
    }
}

package import Domain
import Foundation
import GRDB
package import Gateway

extension MeterStore: TierRepository {
    /// Maximum number of readings per call of `rollUp` or `thin`. They take some tens of milliseconds, during which
    /// other calls wait.
    private static let stepReadings = 20_000
    /// Minimum number of readings counted for a chunk in `stepReadings`, because each chunk takes time.
    private static let chunkCost = 100

    /// Aggregates chunks in the order of insertion, and stores the last one's id in the same transaction. Skips
    /// unreadable chunks.
    package func rollUp() async throws(StoreError) -> Int {
        try await transaction { db in
            let rolled = try Self.rolled(db)
            let rows = try Row.fetchCursor(
                db,
                sql: "SELECT id, meter_ref, first_ms, last_ms, count, bytes FROM sample_chunk WHERE id > ? ORDER BY id",
                arguments: [rolled])
            var sums = TierSums([.minute, .hour])
            var (last, cost, count) = (rolled, 0, 0)
            while cost < Self.stepReadings, let row = try rows.next() {
                (last, cost) = (row[0], cost + max(row[4], Self.chunkCost))
                count += max(1, sums.add(row) ?? 0)
            }
            guard last > rolled else { return 0 }
            try sums.save(db)
            try db.execute(sql: "UPDATE rollup SET chunk = ?", arguments: [last])
            return count
        }
    }

    package func thin(before cutoff: WallTime) async throws(StoreError) -> Int {
        try await transaction { db in
            let rolled = try Self.rolled(db)
            var sums = TierSums([.second])
            var (cost, count) = (0, 0)
            for meter in try Int64.fetchAll(db, sql: "SELECT ref FROM meter_ref ORDER BY ref") {
                var thinned: [Int64] = []
                // `first_ms < ?2` follows from `last_ms < ?2`, but lets the search of the index end early.
                let rows = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT id, meter_ref, first_ms, last_ms, count, bytes FROM sample_chunk
                        WHERE meter_ref = ?1 AND first_ms < ?2 AND last_ms < ?2 AND id <= ?3
                            AND \(StoreSchema.isUndoubted(from: "first_ms", to: "last_ms", cutoff: "?2"))
                            AND count * 1000 > \(SampleRetention.thinnedRate) * (last_ms - first_ms + 1000)
                        ORDER BY first_ms
                        """,
                    arguments: [meter, cutoff.millisecondsSince1970, rolled])
                while cost < Self.stepReadings, let row = try rows.next() {
                    guard let added = sums.add(row) else { continue }
                    cost += max(added, Self.chunkCost)
                    count += added
                    thinned.append(row[0])
                }
                let statement = try db.cachedStatement(sql: "DELETE FROM sample_chunk WHERE id = ?")
                for id in thinned { try statement.execute(arguments: [id]) }
            }
            try sums.save(db)
            return count
        }
    }

    package func expire(_ tier: SampleTier, before cutoff: WallTime) async throws(StoreError) {
        let (limit, overflow) = cutoff.millisecondsSince1970.subtractingReportingOverflow(tier.blockLength)
        guard !overflow else { return }
        try await transaction { db in
            try db.execute(
                sql: """
                    DELETE FROM sample_tier WHERE tier = ?1 AND block_ms <= ?3 AND \(StoreSchema.isUndoubted(
                        from: "block_ms", to: "block_ms + \(tier.blockLength)", cutoff: "?2"))
                    """, arguments: [tier.rawValue, cutoff.millisecondsSince1970, limit])
        }
    }

    package func buckets(
        _ tier: SampleTier, of meter: MeterID, in span: Range<WallTime>
    ) async throws(StoreError) -> [SampleBucket] {
        guard !span.isEmpty else { return [] }
        return try await access("read") { db in
            guard let reference = try Self.reference(of: meter, db) else { return [] }
            var buckets: [SampleBucket] = []
            try Self.forEachBlock(of: tier, reference, in: span, db) { block in
                buckets += block.buckets.filter { span.contains($0.start) }
                return true
            }
            guard tier == .second else { return buckets }
            try Self.forEachChunkOfSeconds(reference, in: span, db) { seconds in
                buckets += seconds.filter { span.contains($0.start) }
                return true
            }
            return buckets.sorted { $0.start < $1.start }
        }
    }

    package func firstStored(of meter: MeterID, in span: Range<WallTime>) async throws(StoreError) -> WallTime? {
        guard !span.isEmpty else { return nil }
        var first = try await samples(of: meter, in: span, limit: 1).first?.time
        for tier in [SampleTier.second, .minute] {
            let rest = span.lowerBound..<min(first ?? span.upperBound, span.upperBound)
            if let bucket = try await firstBucket(of: tier, meter, in: rest) { first = bucket }
        }
        return first
    }

    private func firstBucket(
        of tier: SampleTier, _ meter: MeterID, in span: Range<WallTime>
    ) async throws(StoreError) -> WallTime? {
        try await access("read") { db in
            guard !span.isEmpty, let reference = try Self.reference(of: meter, db) else { return nil }
            var first: WallTime?
            try Self.forEachBlock(of: tier, reference, in: span, db) { block in
                first = block.buckets.map(\.start).filter(span.contains).min()
                return first == nil
            }
            guard tier == .second else { return first }
            let rest = span.lowerBound..<min(first ?? span.upperBound, span.upperBound)
            try Self.forEachChunkOfSeconds(reference, in: rest, db) { seconds in
                guard let found = seconds.map(\.start).filter(rest.contains).min() else { return true }
                first = found
                return false
            }
            return first
        }
    }

    package func fill(_ series: SeriesBuilder, of meter: MeterID) async throws(StoreError) -> SeriesBuilder {
        let path = path
        return try await access("read") { db in
            var series = series
            guard let reference = try Self.reference(of: meter, db) else { return series }
            try Self.forEachBlock(of: series.tier ?? .second, reference, in: series.origin..<series.end, db) { block in
                for bucket in block.buckets { series.add(bucket) }
                return true
            }
            try Self.fillChunks(reference, meter, path, into: &series, db)
            return series
        }
    }

    /// Calls `body` for each readable block until it returns false.
    private static func forEachBlock(
        of tier: SampleTier, _ reference: Int64, in span: Range<WallTime>, _ db: Database,
        _ body: (SampleBucketBlock) -> Bool
    ) throws {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT block_ms, bytes FROM sample_tier
                WHERE tier = ? AND meter_ref = ? AND block_ms >= ? AND block_ms < ? ORDER BY block_ms
                """,
            arguments: [
                tier.rawValue, reference, tier.block(of: span.lowerBound).millisecondsSince1970,
                span.upperBound.millisecondsSince1970,
            ])
        while let row = try rows.next() {
            let start = WallTime(millisecondsSince1970: row[0])
            let bytes: Data = row[1]
            guard let block = try? SampleBucketBlock(tier: tier, start: start, bytes: [UInt8](bytes)) else { continue }
            guard body(block) else { return }
        }
    }

    /// Calls `body` for each readable chunk of one-second aggregates, earliest first, until it returns false.
    private static func forEachChunkOfSeconds(
        _ reference: Int64, in span: Range<WallTime>, _ db: Database, _ body: ([SampleBucket]) -> Bool
    ) throws {
        guard !span.isEmpty else { return }
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT first_ms, last_ms, count, bytes FROM sample_chunk
                WHERE meter_ref = ? AND first_ms < ? AND last_ms >= ? AND substr(bytes, 1, 1) = ?
                ORDER BY first_ms
                """,
            arguments: [
                reference, span.upperBound.millisecondsSince1970, span.lowerBound.millisecondsSince1970,
                Data([SampleChunk.secondsVersion]),
            ])
        while let row = try rows.next() {
            // The query selects the meter; this id is a placeholder.
            guard let seconds = try? SampleChunk(meter: .mac(MACAddress(bits: 0)), row: row).seconds() else { continue }
            guard body(seconds) else { return }
        }
    }

    /// Adds single readings: all if the series uses no aggregates (`tier` is nil), otherwise those not aggregated yet.
    private static func fillChunks(
        _ reference: Int64, _ meter: MeterID, _ path: String, into series: inout SeriesBuilder, _ db: Database
    ) throws {
        let rolled = series.tier == nil ? Int64.min : try rolled(db)
        // Search by id if only the latest chunks are needed. The plus prevents SQLite from using the index by meter and
        // time, which would scan a month of chunks.
        let condition = series.tier == nil ? "meter_ref = ?2" : "+meter_ref = ?2 AND id > ?1"
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, first_ms, last_ms, count, bytes FROM sample_chunk
                WHERE ?1 IS NOT NULL AND \(condition) AND first_ms < ?3 AND last_ms >= ?4
                """,
            arguments: [
                rolled, reference, series.end.millisecondsSince1970, series.origin.millisecondsSince1970,
            ])
        while let row = try rows.next() {
            let chunk = SampleChunk(meter: meter, row: row)
            do throws(ChunkError) {
                for bucket in try chunk.seconds() { series.add(bucket) }
                if !chunk.holdsSeconds { try chunk.forEach { series.add($0.time, $0.reading) } }
            } catch {
                throw StoreError(chunk: row["id"], of: chunk, path: path, because: error)
            }
        }
    }

    private static func rolled(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT chunk FROM rollup") ?? 0
    }
}

private struct TierSums {
    private struct Key: Hashable {
        var tier: SampleTier
        var meter: Int64
        var start: WallTime
    }

    private let tiers: [SampleTier]
    private var blocks: [Key: SampleBucketBlock] = [:]

    init(_ tiers: [SampleTier]) { self.tiers = tiers }

    /// - Parameter row: has the columns meter_ref, first_ms, last_ms, count, bytes.
    /// - Returns: number of readings; nil if the chunk is unreadable and nothing was added.
    mutating func add(_ row: Row) -> Int? {
        let meter: Int64 = row["meter_ref"]
        // `meter_ref` determines the meter; this id is a placeholder.
        let chunk = SampleChunk(meter: .mac(MACAddress(bits: 0)), row: row)
        // Decode first, so that an unreadable chunk adds nothing.
        if chunk.holdsSeconds { return add(try? chunk.seconds(), of: meter) }
        guard let samples = try? chunk.samples() else { return nil }
        for sample in samples {
            for tier in tiers {
                let key = Key(tier: tier, meter: meter, start: tier.block(of: sample.time))
                blocks[key, default: SampleBucketBlock(tier: tier, holding: sample.time)].add(
                    sample.time, sample.reading)
            }
        }
        return samples.count
    }

    private mutating func add(_ seconds: [SampleBucket]?, of meter: Int64) -> Int? {
        for bucket in seconds ?? [] {
            for tier in tiers {
                let key = Key(tier: tier, meter: meter, start: tier.block(of: bucket.start))
                blocks[key, default: SampleBucketBlock(tier: tier, holding: bucket.start)].add(bucket)
            }
        }
        return seconds?.count
    }

    func save(_ db: Database) throws {
        let read = try db.cachedStatement(
            sql: "SELECT bytes FROM sample_tier WHERE tier = ? AND meter_ref = ? AND block_ms = ?")
        let write = try db.cachedStatement(
            sql: """
                INSERT INTO sample_tier (tier, meter_ref, block_ms, bytes) VALUES (?, ?, ?, ?)
                ON CONFLICT (tier, meter_ref, block_ms) DO UPDATE SET bytes = excluded.bytes
                """)
        for (key, block) in blocks {
            var block = block
            let place: [any DatabaseValueConvertible] = [key.tier.rawValue, key.meter, key.start.millisecondsSince1970]
            // Overwrite an unreadable stored block, whose data is lost.
            if let bytes = try Data.fetchOne(read, arguments: StatementArguments(place)),
                let stored = try? SampleBucketBlock(tier: key.tier, start: key.start, bytes: [UInt8](bytes))
            {
                block.merge(stored)
            }
            try write.execute(arguments: StatementArguments(place + [Data(block.encoded())]))
        }
    }
}

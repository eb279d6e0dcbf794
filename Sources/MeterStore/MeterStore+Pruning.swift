package import Domain
import GRDB
package import Gateway

extension MeterStore {
    /// Deletes expired readings, and the oldest readings if the file without its write-ahead log is larger than
    /// `maxBytes`. Keeps at least `maxBytes / 2` of readings, because deleting more does not help if settings fill the
    /// file.
    ///
    /// Works in short transactions, so that other calls can write in between.
    package func prune(before cutoff: WallTime, maxBytes: Int64) async throws(StoreError) -> Int {
        var total = 0
        while let removed = try await removeStep({ try Self.expired(before: cutoff, $0) }) { total += removed }
        while let removed = try await removeStep({ try Self.surplus(over: maxBytes, $0) }) { total += removed }
        var hasShrunk = false
        while try await shrinkStep(maxBytes: maxBytes) { hasShrunk = true }
        if hasShrunk { try await checkpoint() }
        return total
    }

    package func deleteReadings(of meter: MeterID) async throws(StoreError) -> Int {
        var total = 0
        while let removed = try await removeStep({ db in
            guard let reference = try Self.reference(of: meter, db) else { return [] }
            let chunks = try Self.fetch("", [reference], limit: Self.stepLength, db)
            return chunks.isEmpty ? try Self.sums(of: reference, db) : chunks
        }) { total += removed }
        return total
    }

    private static func sums(of reference: Int64, _ db: Database) throws -> [Candidate] {
        let sql = "SELECT id FROM sample_tier WHERE meter_ref = ? LIMIT \(stepLength)"
        return try Int64.fetchAll(db, sql: sql, arguments: [reference]).map {
            Candidate(table: "sample_tier", id: $0)
        }
    }

    /// Size of the file in bytes, without its write-ahead log.
    package func fileBytes() async throws(StoreError) -> Int64 {
        try await access("read") { try Pages($0).file }
    }

    private static let stepLength = 500

    private struct Candidate {
        var table = "sample_chunk"
        var id: Int64
        var first: Int64 = 0
        var count = 0
        var bytes: Int64 = 0
    }

    /// - Returns: number of deleted readings; nil if there were no candidates.
    private func removeStep(
        _ candidates: @escaping @Sendable (Database) throws -> [Candidate]
    ) async throws(StoreError) -> Int? {
        try await transaction { db in
            let chunks = try candidates(db)
            guard !chunks.isEmpty else { return nil }
            for chunk in chunks {
                let statement = try db.cachedStatement(sql: "DELETE FROM \(chunk.table) WHERE id = ?")
                try statement.execute(arguments: [chunk.id])
            }
            return chunks.reduce(0) { $0 + $1.count }
        }
    }

    private static func expired(before cutoff: WallTime, _ db: Database) throws -> [Candidate] {
        var found: [Candidate] = []
        let limit = cutoff.millisecondsSince1970
        for reference in try references(db) where found.count < stepLength {
            // `first_ms < ?2` follows from `last_ms < ?2`, but lets the search of the index end early.
            found += try fetch(
                "AND first_ms < ?2 AND last_ms < ?2 AND \(isUndoubted)", [reference, limit],
                limit: stepLength - found.count, db)
        }
        return found
    }

    /// Returns the oldest chunks of readings and blocks of one-second aggregates, at most `stepLength`. Their deletion
    /// shrinks the file towards `maxBytes`, but leaves at least `maxBytes / 2` of readings. Coarser aggregates are
    /// kept: they are small and all that remains of deleted readings.
    private static func surplus(over maxBytes: Int64, _ db: Database) throws -> [Candidate] {
        var excess = try Pages(db).used - maxBytes
        guard excess > 0 else { return [] }
        excess = min(excess, try readingsBytes(db) - maxBytes / 2)
        guard excess > 0 else { return [] }
        var oldest: [Candidate] = []
        for reference in try references(db) { oldest += try fetch("", [reference], limit: stepLength, db) }
        oldest += try oldestSeconds(db)
        oldest.sort { ($0.first, $0.id) < ($1.first, $1.id) }
        return Array(
            oldest.prefix(stepLength).prefix { chunk in
                defer { excess -= chunk.bytes }
                return excess > 0
            })
    }

    private static func readingsBytes(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT (SELECT ifnull(sum(length(bytes)), 0) FROM sample_chunk)
                    + (SELECT ifnull(sum(length(bytes)), 0) FROM sample_tier WHERE tier = \(SampleTier.second.rawValue))
                """) ?? 0
    }

    private static func oldestSeconds(_ db: Database) throws -> [Candidate] {
        let sql = """
            SELECT id, block_ms, length(bytes) FROM sample_tier
            WHERE tier = \(SampleTier.second.rawValue) ORDER BY block_ms LIMIT \(stepLength)
            """
        // One-second aggregates count as 0 readings, because their readings were counted when they were deleted.
        return try Row.fetchAll(db, sql: sql).map {
            Candidate(table: "sample_tier", id: $0[0], first: $0[1], bytes: $0[2])
        }
    }

    private static let isUndoubted = StoreSchema.isUndoubted(
        from: "sample_chunk.first_ms", to: "sample_chunk.last_ms", cutoff: "?2")

    static func references(_ db: Database) throws -> [Int64] {
        try Int64.fetchAll(db, sql: "SELECT ref FROM meter_ref ORDER BY ref")
    }

    private static func fetch(
        _ condition: String, _ arguments: StatementArguments, limit: Int, _ db: Database
    ) throws -> [Candidate] {
        let sql = """
            SELECT id, first_ms, count, length(bytes) FROM sample_chunk
            WHERE meter_ref = ?1 \(condition) ORDER BY first_ms LIMIT \(limit)
            """
        return try Row.fetchAll(db, sql: sql, arguments: arguments).map {
            Candidate(id: $0[0], first: $0[1], count: $0[2], bytes: $0[3])
        }
    }

    /// Returns up to `stepLength` free pages to the file system, if the file is too large or an eighth of it is free.
    ///
    /// Otherwise new readings reuse the pages. Returning a page moves another one, so daily shrinking would write every
    /// reading twice.
    ///
    /// - Returns: whether the file shrank.
    private func shrinkStep(maxBytes: Int64) async throws(StoreError) -> Bool {
        try await access("written") { db in
            let before = try Pages(db)
            let isTooLarge = before.file > maxBytes && before.used <= maxBytes
            guard before.free > 0, isTooLarge || before.free * 8 > before.file else { return false }
            try db.execute(sql: "PRAGMA incremental_vacuum(\(Self.stepLength))")
            return try Pages(db).file < before.file
        }
    }

    /// Empties the write-ahead log, so that the file shrinks. If a reader prevents this, a later checkpoint empties it.
    private func checkpoint() async throws(StoreError) {
        try await access("written") { db in _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Size of the database file, and of its free pages, in bytes.
    struct Pages {
        let file: Int64
        let free: Int64
        var used: Int64 { file - free }

        init(_ db: Database) throws {
            let size = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            file = size * (try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0)
            free = size * (try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0)
        }
    }
}

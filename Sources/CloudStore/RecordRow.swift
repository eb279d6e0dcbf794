import Cloud
import CloudAPI
import Domain
import Foundation
import GRDB

enum RecordRow {
    static let purgeStep = 1000

    struct Stored {
        var id: Int64
        var record: SyncRecord
    }

    static func fetch(_ key: RecordKey, in zone: Int64, _ db: Database) throws -> Stored? {
        let statement = try db.cachedStatement(
            sql: "SELECT id, type, name, body FROM record WHERE zone = ? AND type = ? AND name = ?")
        return try Row.fetchOne(statement, arguments: [zone, key.type.rawValue, key.name])
            .map { Stored(id: $0["id"], record: try record($0)) }
    }

    /// Reads a page of records after a sequence. Keeps the stored text of records that this version wrote.
    ///
    /// - Returns: the page, the sequence of its last record, and whether more follow.
    static func page(
        of type: RecordType, in zone: Int64, after sequence: UInt64, limit: Int, _ db: Database
    ) throws -> (page: RecordPage, last: UInt64?, moreComing: Bool) {
        let statement = try db.cachedStatement(
            sql: """
                SELECT type, name, sequence, body FROM record
                WHERE zone = ? AND type = ? AND sequence > ? ORDER BY sequence LIMIT ?
                """)
        let rows = try Row.fetchCursor(
            statement, arguments: [zone, type.rawValue, Int64(clamping: sequence), limit + 1])
        var (page, last) = (RecordPage(capacity: limit), UInt64?.none)
        while let row = try rows.next() {
            guard page.count < limit else { return (page, last, true) }
            let isAppended = try row.withUnsafeData(atIndex: 3) { $0.map { page.append(text: $0) } ?? false }
            if !isAppended { page.append(try record(row)) }
            last = UInt64(clamping: row[2] as Int64)
        }
        return (page, last, false)
    }

    static func page(in zone: Int64, after sequence: UInt64, limit: Int, _ db: Database) throws -> [PlacedRecord] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT type, name, sequence, tombstone_ms, body FROM record
                WHERE zone = ? AND sequence > ? ORDER BY sequence LIMIT ?
                """)
        return try Row.fetchAll(statement, arguments: [zone, Int64(clamping: sequence), limit]).map { row in
            let tombstone: Int64? = row["tombstone_ms"]
            return PlacedRecord(
                record: try record(row), sequence: UInt64(clamping: row["sequence"] as Int64),
                tombstoneTime: tombstone.map { WallTime(millisecondsSince1970: $0) })
        }
    }

    static func record(_ row: Row) throws -> SyncRecord {
        if let record = try row.withUnsafeData(named: "body", { $0.flatMap { SyncRecord(text: $0) } }) { return record }
        // The fast parser failed: the JSON is damaged, or in another format that the general decoder accepts.
        let body: Data = row["body"]
        do {
            return try JSONDecoder().decode(SyncRecord.self, from: body)
        } catch {
            throw CloudStoreError(
                .damaged,
                "the record \(row["type"] as String) \(row["name"] as String) cannot be read: \(error). "
                    + "Restore the store from a backup")
        }
    }

    static func merge(
        _ record: SyncRecord, into zone: inout StoredZone, now: WallTime, leaseTime: MonotonicTime, in batch: WriteBatch
    ) throws -> RecordOutcome {
        let db = batch.db
        let stored = try fetch(record.key, in: zone.id, db)
        let intake = RecordIntake.decide(
            record, onto: stored?.record, now: now, accepted: zone.accepted, usage: zone.usage, quota: zone.zone.quota)
        switch intake {
        case .unchanged: return RecordOutcome(fate: .unchanged, record: stored?.record)
        case .clockSkew: return RecordOutcome(fate: .clockSkew, record: stored?.record)
        case .tooManyProperties: return RecordOutcome(fate: .tooManyProperties, record: stored?.record)
        case .quotaExceeded(let excess): return RecordOutcome(fate: .quotaExceeded(excess), record: stored?.record)
        case .changed(let merged, let change):
            if let refusal = try batch.follow(merged, in: zone.id, at: leaseTime) {
                return RecordOutcome(fate: refusal, record: stored?.record)
            }
            zone.zone.sequence += 1
            zone.usage.add(change)
            zone.accepted = max(zone.accepted, RecordIntake.newestMilliseconds(of: merged))
            try write(merged, id: stored?.id, in: zone, db)
            return RecordOutcome(fate: .changed(sequence: zone.zone.sequence), record: merged)
        }
    }

    private static func write(
        _ record: SyncRecord, id: Int64?, in zone: StoredZone, _ db: Database
    ) throws {
        let sequence = Int64(clamping: zone.zone.sequence)
        let tombstone = RecordIntake.tombstoneTime(of: record)?.millisecondsSince1970
        var body: [UInt8] = []
        RecordText.write(record, to: &body)
        if let id {
            let statement = try db.cachedStatement(
                sql: "UPDATE record SET sequence = ?, tombstone_ms = ?, body = ? WHERE id = ?")
            try statement.execute(arguments: [sequence, tombstone, Data(body), id])
        } else {
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO record (zone, type, name, sequence, tombstone_ms, body) VALUES (?, ?, ?, ?, ?, ?)
                    """)
            try statement.execute(arguments: [
                zone.id, record.key.type.rawValue, record.key.name, sequence, tombstone, Data(body),
            ])
        }
    }
}

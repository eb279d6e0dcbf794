package import Cloud
package import CloudAPI
package import Domain
import GRDB

extension SQLiteCloudEngine {
    package func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome] {
        try await writer.write(weight: records.count) { [markID] batch in
            var stored = try batch.zone(zone)
            let outcomes = try records.map {
                try RecordRow.merge($0, into: &stored, now: now, leaseTime: leaseTime, in: batch)
            }
            let before = try batch.zone(zone)
            guard before != stored else { return outcomes }
            if !stored.isMarked {
                let newest = try TimelineTable.newest(of: stored.id, batch.db)
                try TimelineTable.insert(
                    TimelineMark(after: newest, at: before.zone.sequence, id: markID), of: stored.id, batch.db)
                stored.isMarked = true
            }
            let statement = try batch.db.cachedStatement(
                sql: "UPDATE zone SET sequence = ?, accepted_ms = ? WHERE id = ?")
            try statement.execute(arguments: [
                Int64(clamping: stored.zone.sequence), Int64(clamping: stored.accepted), stored.id,
            ])
            try UsageTable.update(stored.id, from: before.usage, to: stored.usage, batch.db)
            batch.setZone(stored)
            return outcomes
        }
    }

    package func changes(
        of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int
    ) async throws -> ChangeList {
        let (id, epoch) = (try zoneTable.zone(zone).id, epoch)
        return try await read { db in
            // Read the zone from the same snapshot as the records, because the counters in memory may be ahead.
            let statement = try db.cachedStatement(sql: "SELECT * FROM zone WHERE id = ?")
            guard let row = try Row.fetchOne(statement, arguments: [id]) else {
                throw CloudFailure.zoneNotFound(zone)
            }
            let state = FeedState(
                try StoredZone(row), epoch: epoch, mark: try TimelineTable.newest(of: id, db))
            let marks: [TimelineMark] =
                if let number = token?.origin?.mark, number != state.mark?.number {
                    try TimelineTable.pair(at: number, of: id, db)
                } else {
                    []
                }
            try state.check(token, marks: marks)
            let found = try RecordRow.page(of: type, in: id, after: token?.sequence ?? 0, limit: limit, db)
            return ChangeList(
                page: found.page,
                token: state.token(after: token, last: found.last, moreComing: found.moreComing),
                moreComing: found.moreComing, zoneID: state.zone)
        }
    }

    package func record(_ key: RecordKey, in zone: String) async throws -> SyncRecord? {
        let id = try zoneTable.zone(zone).id
        return try await read { db in try RecordRow.fetch(key, in: id, db)?.record }
    }

    package func records(in zone: String, type: RecordType?) async throws -> [SyncRecord] {
        let id = try zoneTable.zone(zone).id
        return try await read { db in
            let condition = type == nil ? "" : "AND type = ?"
            let rows = try Row.fetchCursor(
                db, sql: "SELECT * FROM record WHERE zone = ? \(condition) ORDER BY type, name",
                arguments: type.map { [id, $0.rawValue] } ?? [id])
            var records: [SyncRecord] = []
            while let row = try rows.next() { records.append(try RecordRow.record(row)) }
            return records
        }
    }
}

extension FeedState {
    fileprivate init(_ stored: StoredZone, epoch: String, mark: TimelineMark?) {
        self.init(
            zone: stored.zone.id, epoch: epoch, floor: stored.floor, sequence: stored.zone.sequence, mark: mark)
    }
}

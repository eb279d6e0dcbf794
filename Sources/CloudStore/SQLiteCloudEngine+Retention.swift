import Cloud
package import Domain
import GRDB

extension SQLiteCloudEngine {
    package func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int {
        // Set the dates of a few tombstones at a time, so that other commands can write in between.
        while try await dateStep(dating) > 0 {}
        var total = 0
        while case let count = try await purgeStep(before: time), count > 0 { total += count }
        return total
    }

    private func dateStep(_ date: WallTime) async throws -> Int {
        try await writer.write(weight: RecordRow.purgeStep) { batch in
            try batch.db.execute(
                sql: """
                    UPDATE record SET tombstone_ms = ? WHERE id IN (
                        SELECT id FROM record WHERE tombstone_ms = ? LIMIT \(RecordRow.purgeStep))
                    """,
                arguments: [
                    date.millisecondsSince1970, RecordIntake.undated.millisecondsSince1970,
                ])
            return batch.db.changesCount
        }
    }

    private func purgeStep(before time: WallTime) async throws -> Int {
        try await writer.write(weight: RecordRow.purgeStep) { batch in
            let rows = try Row.fetchAll(
                batch.db,
                sql: """
                    SELECT record.id, record.sequence, record.type, record.name, record.body, zone.name AS zone_name
                    FROM record JOIN zone ON zone.id = record.zone
                    WHERE tombstone_ms < ? ORDER BY tombstone_ms LIMIT \(RecordRow.purgeStep)
                    """,
                arguments: [time.millisecondsSince1970])
            var befores: [String: ZoneUsage] = [:]
            for name in Set(rows.map { $0["zone_name"] as String }) { befores[name] = try batch.zone(name).usage }
            for row in rows {
                var zone = try batch.zone(row["zone_name"])
                zone.floor = max(zone.floor, UInt64(clamping: row["sequence"] as Int64))
                // An unreadable record was never counted in the usage.
                if let record = try? RecordRow.record(row) { zone.usage.add(.change(from: record, to: nil)) }
                batch.setZone(zone)
                try batch.db.execute(sql: "DELETE FROM record WHERE id = ?", arguments: [row["id"] as Int64])
            }
            for (name, before) in befores {
                let zone = try batch.zone(name)
                try batch.db.execute(
                    sql: "UPDATE zone SET floor = ? WHERE id = ?", arguments: [Int64(clamping: zone.floor), zone.id])
                try UsageTable.update(zone.id, from: before, to: zone.usage, batch.db)
                try TimelineTable.removeOutdated(of: zone.id, floor: zone.floor, batch.db)
            }
            if !rows.isEmpty { try batch.db.execute(sql: "PRAGMA incremental_vacuum(\(RecordRow.purgeStep))") }
            return rows.count
        }
    }

    package var believedDate: WallTime? {
        get async throws { try await read { db in try Meta.believedDate.readDate(db) } }
    }

    package func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool {
        try await writer.write { batch in
            guard try Meta.believedDate.readDate(batch.db) == known else { return false }
            try Meta.believedDate.write("\(date.millisecondsSince1970)", batch.db)
            return true
        }
    }

    package func newestStamp() async throws -> WallTime? {
        try await read { db in
            let newest = try Int64.fetchOne(db, sql: "SELECT max(accepted_ms) FROM zone") ?? 0
            return newest > 0 ? WallTime(millisecondsSince1970: newest) : nil
        }
    }
}

extension Meta {
    /// - Throws: `damaged` if the value is not a number.
    fileprivate func readDate(_ db: Database) throws -> WallTime? {
        guard let text = try read(db) else { return nil }
        guard let milliseconds = Int64(text) else {
            throw CloudStoreError(
                .damaged, "the store's \(rawValue) is \"\(text.prefix(64))\", which is not a number. Restore a backup")
        }
        return WallTime(millisecondsSince1970: milliseconds)
    }
}

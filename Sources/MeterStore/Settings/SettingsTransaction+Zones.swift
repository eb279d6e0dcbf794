package import Domain
import GRDB
package import Gateway

extension MeterStore {
    package func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws(StoreError) {
        try await changeSettings { transaction in try transaction.enter(zone, entry) }
    }
}

extension SettingsTransaction {
    /// Implements `SyncRepository.adopt`.
    mutating func enter(_ zone: SyncZone, _ entry: ZoneEntry) throws {
        var membership = try MembershipRow(db)
        let before = membership
        try membership.enter(zone, db)
        if let left = before.zone, left != membership.zone, entry != .own {
            try leave(left, name: before.zoneName, bringsAll: entry == .another(bringsAll: true))
            try comeBack(to: membership.zone)
        }
        host.epoch = zone.epoch
        // Reset the greatest accepted stamp, because the new store has accepted none yet.
        host.cloudMark = Stamp(milliseconds: 0, counter: 0, host: host.id)
        refetches = [:]
        try db.execute(sql: "UPDATE progress SET token = NULL, cursor = NULL, is_refetching = 0")
        // Forget the sent changes: the previous store accepted them, not the new one.
        try db.execute(sql: "DELETE FROM told")
        try db.execute(sql: "DELETE FROM held_back")
        switch entry {
        case .everything, .another: try queueEverything()
        case .own:
            try refetchEverything()
            try queueOwn()
        case .afterLong: return try refetchEverything()
        }
        // The new store may accept records that the previous one refused.
        try db.execute(sql: "DELETE FROM parked WHERE origin = 'push'")
    }

    private func refetchEverything() throws {
        for type in RecordType.known { try beginRefetch(of: type) }
    }

    func beginRefetch(of type: RecordType) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO progress (type, is_refetching, refetch) VALUES (?, 1, 1)
                ON CONFLICT (type) DO UPDATE SET is_refetching = 1, cursor = NULL, refetch = refetch + 1
                """)
        try statement.run([type.rawValue])
    }

    // MARK: Another zone

    /// Moves deletions to a table of the zone that this host leaves. Unless `bringsAll`, sets aside the records that do
    /// not match `isBrought`.
    private mutating func leave(_ zone: String, name: String?, bringsAll: Bool) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO deletion_elsewhere (zone, type, name, deleted_ms, deleted_counter, deleted_host,
                    merged_into, brought_by, learned_ms, is_pending)
                SELECT ?, type, name, deleted_ms, deleted_counter, deleted_host, merged_into,
                    deletion_brought_by, deletion_learned_ms,
                    EXISTS (SELECT 1 FROM outbox WHERE outbox.record = record.id AND property = '')
                FROM record WHERE deleted_ms IS NOT NULL
                """, arguments: [zone])
        try db.execute(sql: "DELETE FROM outbox WHERE property = ''")
        try db.execute(
            sql: """
                UPDATE record SET deleted_ms = NULL, deleted_counter = NULL, deleted_host = NULL, merged_into = NULL,
                    deletion_brought_by = NULL, deletion_learned_ms = NULL WHERE deleted_ms IS NOT NULL
                """)
        if !bringsAll {
            let staying = try Int64.fetchAll(
                db, sql: "SELECT id FROM record WHERE NOT (\(Self.isBrought))", arguments: [host.id.description])
            for row in staying { try putAside(row, of: zone, name: name) }
        }
        try db.execute(
            sql: "DELETE FROM record WHERE NOT EXISTS (SELECT 1 FROM register WHERE register.record = record.id)")
    }

    /// SQL condition for the records to bring to another zone: those with a setting made on this host (`?1`), and those
    /// of this host's meters.
    private static let isBrought = """
        EXISTS (SELECT 1 FROM register WHERE register.record = record.id AND stamp_host = ?1)
        OR type IN ('DeviceSettings', 'MeterAlias') AND name IN (SELECT id FROM meter)
        OR type = 'MeterAlias' AND EXISTS (
            SELECT 1 FROM register JOIN meter ON meter.id = register.value WHERE register.record = record.id)
        """

    private mutating func putAside(_ row: Int64, of zone: String, name: String?) throws {
        guard let key = try key(of: row) else { return }
        for (property, register) in try registers(of: row) {
            try putAside(property, register, of: key, because: "zone", zone: zone, zoneName: name)
        }
        try db.cachedStatement(sql: "DELETE FROM outbox WHERE record = ?").run([row])
        try db.cachedStatement(sql: "DELETE FROM record WHERE id = ?").run([row])
    }

    /// Restores the deletions of a zone that this host joins again, and adds the unsent ones to the outbox.
    private mutating func comeBack(to zone: String?) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, deleted_ms, deleted_counter, deleted_host, merged_into, is_pending,
                    brought_by
                FROM deletion_elsewhere WHERE zone = ? ORDER BY type, name
                """, arguments: [zone])
        for row in rows {
            let key = RecordKey(type: RecordType(rawValue: row[0]), name: row[1])
            let deletion = Deletion(
                stamp: try Stamp(row, at: 2), mergedInto: row[5], broughtBy: try HostID(bringer: row[7]))
            let merge = (try record(key) ?? SyncRecord(key: key)).merging(SyncRecord(key: key, deletion: deletion))
            try store(merge)
            if row[6] { try tell(merge) }
        }
        try db.execute(sql: "DELETE FROM deletion_elsewhere WHERE zone = ?", arguments: [zone])
    }

    // MARK: This host's records

    private func queueOwn() throws {
        try db.execute(
            sql: """
                INSERT INTO outbox (record, property, type, stamp_ms, stamp_counter, stamp_host)
                SELECT record, property, type, stamp_ms, stamp_counter, stamp_host
                FROM register JOIN record ON record.id = register.record WHERE stamp_host = ?
                ON CONFLICT (record, property) DO NOTHING
                """, arguments: [host.id.description])
    }

    func key(of row: Int64) throws -> RecordKey? {
        let statement = try db.cachedStatement(sql: "SELECT type, name FROM record WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [row]).map {
            RecordKey(type: RecordType(rawValue: $0[0]), name: $0[1])
        }
    }
}

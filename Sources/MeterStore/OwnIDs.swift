package import Domain
import GRDB
package import Gateway

/// Converts meter ids issued under this host's name, or by the machine that the file was copied from, to ids issued by
/// this host. The meter's row, readings, log and a copy of its settings get the new id.
///
/// The old settings are kept, because another host of the same name, or an older version, may use them.
enum OwnIDs {
    static func adopt(_ db: Database, host: HostID) throws {
        let texts = try String.fetchAll(db, sql: "SELECT id FROM meter ORDER BY is_wanted DESC, last_seen_ms DESC, id")
        let others = texts.compactMap { MeterID($0) }.filter { $0.givenBy.map { HostID($0) != host } ?? false }
        guard !others.isEmpty else { return }
        try db.inDurableTransaction { db in
            var transaction = try SettingsTransaction(db, learned: nil, boot: nil)
            for old in others { try adopt(old, as: old.given(by: host), db, &transaction) }
            try transaction.save()
        }
    }

    private static func adopt(_ old: MeterID, as new: MeterID, _ db: Database, _ transaction: inout SettingsTransaction)
        throws
    {
        let both: StatementArguments = [new.description, old.description]
        guard try Int.fetchOne(db, sql: "SELECT 1 FROM meter WHERE id = ?", arguments: [new.description]) == nil else {
            // This host already has its own id for the port. Only deactivate the older id; its readings are not moved.
            try db.execute(
                sql: "UPDATE meter SET is_wanted = 0, is_declared = 0 WHERE id = ?", arguments: [old.description])
            return
        }
        try db.execute(sql: "UPDATE meter SET id = ? WHERE id = ?", arguments: both)
        try db.execute(sql: "UPDATE OR IGNORE meter_ref SET id = ? WHERE id = ?", arguments: both)
        try db.execute(sql: "UPDATE meter_log SET meter = ? WHERE meter = ?", arguments: both)
        try db.execute(sql: "UPDATE former_id SET id = ? WHERE id = ?", arguments: both)
        try db.execute(sql: "INSERT OR REPLACE INTO former_id (id, former) VALUES (?, ?)", arguments: both)
        for type in [RecordType.deviceSettings, .meterAlias] {
            guard let record = try transaction.record(RecordKey(type: type, name: old.description)) else { continue }
            let key = RecordKey(type: type, name: new.description)
            let present = try transaction.record(key) ?? SyncRecord(key: key)
            let merge = present.merging(SyncRecord(key: key, properties: record.properties))
            try transaction.store(merge)
            try transaction.tell(merge)
        }
    }
}

extension MeterStore {
    package func formerIDs() async throws(StoreError) -> [MeterID: MeterID] {
        try await access("read") { db in
            var ids: [MeterID: MeterID] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT former, id FROM former_id") {
                guard let former = MeterID(row[0] as String), let id = MeterID(row[1] as String) else { continue }
                ids[former] = id
            }
            return ids
        }
    }
}

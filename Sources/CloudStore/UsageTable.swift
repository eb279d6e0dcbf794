package import Cloud
import Domain
import GRDB

/// Table of quota usage: a row for each zone, and one for each host that uses part of the zone's quota.
enum UsageTable {
    /// Value of `host` for the whole zone.
    private static let wholeZone = ""

    static func fetchAll(_ db: Database) throws -> [Int64: ZoneUsage] {
        var parts: [Int64: (total: QuotaAmount, hosts: [HostID: QuotaAmount])] = [:]
        let rows = try Row.fetchCursor(db, sql: "SELECT zone, host, bytes, records FROM usage")
        while let row = try rows.next() {
            let amount = QuotaAmount(bytes: row["bytes"], records: row["records"])
            let (zone, name): (Int64, String) = (row["zone"], row["host"])
            if name == wholeZone {
                parts[zone, default: (.zero, [:])].total = amount
            } else if let host = HostID(name) {
                parts[zone, default: (.zero, [:])].hosts[host] = amount
            }
        }
        return parts.mapValues { ZoneUsage(total: $0.total, hosts: $0.hosts) }
    }

    static func update(_ zone: Int64, from old: ZoneUsage, to new: ZoneUsage, _ db: Database) throws {
        if old.total != new.total { try write(new.total, wholeZone, of: zone, db) }
        for host in Set(old.hosts.keys).union(new.hosts.keys) where old.hosts[host] != new.hosts[host] {
            try write(new.hosts[host], host.description, of: zone, db)
        }
    }

    private static func write(_ amount: QuotaAmount?, _ host: String, of zone: Int64, _ db: Database) throws {
        guard let amount else {
            let statement = try db.cachedStatement(sql: "DELETE FROM usage WHERE zone = ? AND host = ?")
            return try statement.execute(arguments: [zone, host])
        }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO usage (zone, host, bytes, records) VALUES (?, ?, ?, ?)
                ON CONFLICT (zone, host) DO UPDATE SET bytes = excluded.bytes, records = excluded.records
                """)
        try statement.execute(arguments: [zone, host, amount.bytes, amount.records])
    }

    static func count(_ zone: Int64, _ db: Database) throws -> ZoneUsage {
        var usage = ZoneUsage()
        let rows = try Row.fetchCursor(
            db, sql: "SELECT type, name, body FROM record WHERE zone = ?", arguments: [zone])
        while let row = try rows.next() {
            // Skip unreadable records, which usage never includes. The code that needs a record reports the damage.
            guard let record = try? RecordRow.record(row) else { continue }
            usage.add(ZoneUsage(of: record))
        }
        return usage
    }
}

extension CloudSchema {
    static func addQuotas(_ db: Database) throws {
        let standard = ZoneQuota.standard
        let columns = [
            ("bytes_max", standard.zone.bytes), ("records_max", standard.zone.records),
            ("host_bytes_max", standard.host.bytes), ("host_records_max", standard.host.records),
        ]
        for (name, value) in columns {
            try db.execute(sql: "ALTER TABLE zone ADD COLUMN \(name) INTEGER NOT NULL DEFAULT \(value)")
        }
        try db.execute(
            sql: """
                -- What the records of a zone count towards its quota (ZoneUsage). host: '' for the whole zone, else whose
                -- share it is.
                CREATE TABLE usage (
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    host TEXT NOT NULL,
                    bytes INTEGER NOT NULL,
                    records INTEGER NOT NULL,
                    PRIMARY KEY (zone, host)
                ) STRICT, WITHOUT ROWID;
                """)
        for zone in try Int64.fetchAll(db, sql: "SELECT id FROM zone") {
            try UsageTable.update(zone, from: ZoneUsage(), to: UsageTable.count(zone, db), db)
        }
    }
}

extension ZoneQuota {
    init(_ row: Row) {
        self.init(
            zone: QuotaAmount(bytes: row["bytes_max"], records: row["records_max"]),
            host: QuotaAmount(bytes: row["host_bytes_max"], records: row["host_records_max"]), leases: row["leases_max"]
        )
    }
}

extension SQLiteCloudEngine {
    package func setQuota(_ quota: ZoneQuota, of zone: String) async throws {
        try await writer.write { batch in
            var stored = try batch.zone(zone)
            stored.zone.quota = quota
            try batch.db.execute(
                sql: """
                    UPDATE zone SET bytes_max = ?, records_max = ?, host_bytes_max = ?, host_records_max = ?,
                        leases_max = ? WHERE id = ?
                    """,
                arguments: [
                    quota.zone.bytes, quota.zone.records, quota.host.bytes, quota.host.records, quota.leases, stored.id,
                ])
            batch.setZone(stored)
        }
    }

    package func usage(of zone: String) async throws -> ZoneUsage { try zoneTable.zone(zone).usage }

    package func leaseCount(of zone: String) async throws -> Int { try zoneTable.zone(zone).leases.total }
}

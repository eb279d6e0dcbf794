import Cloud
import Domain
import GRDB

/// Table with a row for each zone, and one for each host that created leases in it.
enum LeaseUsageTable {
    /// Value of `host` for the whole zone.
    private static let wholeZone = ""

    static func fetchAll(_ db: Database) throws -> [Int64: LeaseUsage] {
        var parts: [Int64: (total: Int, hosts: [HostID: Int])] = [:]
        let rows = try Row.fetchCursor(db, sql: "SELECT zone, host, leases FROM lease_usage")
        while let row = try rows.next() {
            let (zone, name, leases): (Int64, String, Int) = (row["zone"], row["host"], row["leases"])
            if name == wholeZone {
                parts[zone, default: (0, [:])].total = leases
            } else if let host = HostID(name) {
                parts[zone, default: (0, [:])].hosts[host] = leases
            }
        }
        return parts.mapValues { LeaseUsage(total: $0.total, hosts: $0.hosts) }
    }

    static func write(_ usage: LeaseUsage, of host: HostID?, in zone: Int64, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO lease_usage (zone, host, leases) VALUES (?, ?, ?)
                ON CONFLICT (zone, host) DO UPDATE SET leases = excluded.leases
                """)
        try statement.execute(arguments: [zone, wholeZone, usage.total])
        if let host { try statement.execute(arguments: [zone, host.description, usage.hosts[host]]) }
    }
}

extension CloudSchema {
    static func addLeaseUsage(_ db: Database) throws {
        try db.execute(
            sql: """
                -- NULL for the standard limit.
                ALTER TABLE zone ADD COLUMN leases_max INTEGER;

                -- How many leases there are. host: '' for the whole zone, else who created them.
                CREATE TABLE lease_usage (
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    host TEXT NOT NULL,
                    leases INTEGER NOT NULL,
                    PRIMARY KEY (zone, host)
                ) STRICT, WITHOUT ROWID;

                INSERT INTO lease_usage (zone, host, leases) SELECT zone, '', COUNT(*) FROM lease GROUP BY zone;
                """)
    }
}

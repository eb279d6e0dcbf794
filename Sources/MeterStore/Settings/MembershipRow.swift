package import Domain
import GRDB
package import Gateway

/// The only row of the table `membership`: the zone to which change tokens and outbox belong.
struct MembershipRow {
    /// Identity of the zone (`SyncZone.identity`).
    var zone: String?
    var zoneName: String?
    var record: RunHistory

    init(_ db: Database) throws {
        let statement = try db.cachedStatement(sql: "SELECT zone, zone_name, success_ms, failures FROM membership")
        guard let row = try Row.fetchOne(statement) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table membership has no row")
        }
        zone = row[0]
        zoneName = row[1]
        record = RunHistory(
            lastSuccess: (row[2] as Int64?).map { WallTime(millisecondsSince1970: $0) }, failures: row[3])
    }

    mutating func enter(_ zone: SyncZone, _ db: Database) throws {
        self.zone = zone.identity(after: self.zone, name: zoneName)
        zoneName = zone.name
        try db.execute(
            sql: "UPDATE membership SET zone = ?, zone_name = ?", arguments: [self.zone, zoneName])
        try db.execute(
            sql: """
                INSERT INTO visit (identity, name, server_ms) VALUES (?, ?, ?)
                ON CONFLICT (identity) DO UPDATE SET
                    name = excluded.name, server_ms = max(server_ms, excluded.server_ms)
                """, arguments: [self.zone, zoneName, Int64(clamping: zone.serverTime)])
    }

    static func visits(_ db: Database) throws -> [String: SyncVisit] {
        let statement = try db.cachedStatement(sql: "SELECT identity, name, server_ms FROM visit")
        let visits = try Row.fetchAll(statement).map {
            SyncVisit(identity: $0[0], name: $0[1], serverTime: UInt64(stored: $0[2]))
        }
        return Dictionary(visits.map { ($0.identity, $0) }) { first, _ in first }
    }
}

extension MeterStore {
    package func runEnded(
        isComplete: Bool, at wall: WallTime, serverTime: UInt64?
    ) async throws(StoreError) {
        // Not durable, because a power cut loses only the result of one sync.
        try await transaction { db in
            guard isComplete else { return try db.execute(sql: "UPDATE membership SET failures = failures + 1") }
            try db.execute(
                sql: "UPDATE membership SET success_ms = ?, failures = 0", arguments: [wall.millisecondsSince1970])
            guard let serverTime else { return }
            try db.execute(
                sql: """
                    UPDATE visit SET server_ms = max(server_ms, ?) WHERE identity = (SELECT zone FROM membership)
                    """, arguments: [Int64(clamping: serverTime)])
        }
    }
}

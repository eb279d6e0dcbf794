package import Domain
import GRDB
package import Gateway

extension MeterStore {
    /// Returns the session id of this host's last process that held a lease, if any. Whoever holds the store's lock may
    /// take over that process's leases, because the process has ended (Docs/Leases.md#what-a-host-can-ask).
    package func leaseSession() async throws(StoreError) -> SessionID? {
        try await access("read") { db in
            try String.fetchOne(db, sql: "SELECT session FROM host").flatMap { SessionID($0) }
        }
    }

    /// Durably stores the session id of this process. Call it only once this process holds a lease: it overwrites the
    /// id of an earlier process, which may still hold leases.
    package func keepLeaseSession(_ session: SessionID) async throws(StoreError) {
        try await access("written") { db in
            try db.inDurableTransaction { db in
                try db.execute(sql: "UPDATE host SET session = ?", arguments: [session.description])
            }
        }
    }

    /// Returns each meter's greatest known fencing token. The cloud must issue greater ones even after a rollback
    /// (Docs/Leases.md#rule-5).
    package func leaseTokens(in zone: String) async throws(StoreError) -> [MeterID: FencingToken] {
        try await access("read") { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT id, lease_token FROM meter WHERE lease_zone = ? AND lease_token > 0",
                arguments: [zone])
            return rows.reduce(into: [:]) { tokens, row in
                guard let id = MeterID(row[0] as String) else { return }
                tokens[id] = FencingToken(rawValue: UInt64(stored: row[1]))
            }
        }
    }

    /// Stores the greatest known fencing token of a meter. Does nothing for an unknown meter.
    package func keepLeaseToken(
        _ token: FencingToken, of meter: MeterID, in zone: String
    ) async throws(StoreError) {
        try await access("written") { db in
            try db.inDurableTransaction { db in
                try db.execute(
                    sql: """
                        UPDATE meter SET lease_token = ?1, lease_zone = ?2
                        WHERE id = ?3 AND (lease_zone IS NOT ?2 OR lease_token < ?1)
                        """,
                    arguments: [Int64(clamping: token.rawValue), zone, meter.description])
            }
        }
    }
}

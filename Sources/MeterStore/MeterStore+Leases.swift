package import Domain
import GRDB
package import Gateway

extension MeterStore {
    /// Returns the session id of the latest run of the program on this machine that held a lease, if any. The owner of
    /// the store's lock can assume that this run has ended, and may take over its leases
    /// (Docs/Leases.md#what-a-host-can-ask).
    package func leaseSession() async throws(StoreError) -> SessionID? {
        try await access("read") { db in
            try String.fetchOne(db, sql: "SELECT session FROM host").flatMap { SessionID($0) }
        }
    }

    /// Durably stores the session id of this run, which must hold a lease. The id of a run without a lease must not be
    /// stored, because it would overwrite the id of an earlier run that may still hold leases.
    package func keepLeaseSession(_ session: SessionID) async throws(StoreError) {
        try await access("written") { db in
            try db.inDurableTransaction { db in
                try db.execute(sql: "UPDATE host SET session = ?", arguments: [session.description])
            }
        }
    }

    /// Returns the greatest known fencing token of each meter. A cloud whose store was rolled back must still issue
    /// greater tokens (Docs/Leases.md#rule-5).
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

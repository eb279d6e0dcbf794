package import Domain
import GRDB
package import Gateway

/// What one run hands on to the next about leases.
extension MeterStore {
    /// The latest run on this machine that held a lease, if there was one. The owner of the store's lock knows that
    /// this run is gone, and may take over its leases (Docs/Leases.md#what-a-host-can-ask).
    package func leaseSession() async throws(StoreError) -> SessionID? {
        try await access("read") { db in
            try String.fetchOne(db, sql: "SELECT session FROM host").flatMap { SessionID($0) }
        }
    }

    /// Notes durably that this run holds a lease now. A run that never got one is not noted: it would hide the one
    /// before it, which may still hold some.
    package func keepLeaseSession(_ session: SessionID) async throws(StoreError) {
        try await access("written") { db in
            try db.inDurableTransaction { db in
                try db.execute(sql: "UPDATE host SET session = ?", arguments: [session.description])
            }
        }
    }

    /// The greatest token of each meter that was heard of in this zone. A cloud whose store went back has forgotten it,
    /// and must still issue a greater one (Docs/Leases.md#rule-5).
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

    /// Nothing is kept for a meter that is not known here.
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

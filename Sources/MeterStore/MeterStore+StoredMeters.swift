package import Domain
import GRDB
package import Gateway

extension MeterStore: StoredMetersRepository {
    package func storedMeters() async throws(StoreError) -> [MeterID] {
        try await access("read") { db in
            try String.fetchAll(db, sql: "SELECT id FROM meter_ref ORDER BY ref").compactMap { MeterID($0) }
                .filter { !$0.isImportStretch }
        }
    }
}

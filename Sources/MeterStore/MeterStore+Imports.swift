package import Domain
import GRDB
package import Gateway

extension MeterStore: ImportRepository {
    package func importStretches() async throws(StoreError) -> [MeterID] {
        try await access("read") { db in
            try String.fetchAll(db, sql: "SELECT id FROM meter_ref WHERE id LIKE 'port:%' ORDER BY ref")
                .compactMap { MeterID($0) }.filter(\.isImportStretch)
        }
    }

    package func deleteImport(_ stretch: MeterID) async throws(StoreError) -> Int {
        let count = try await deleteReadings(of: stretch)
        // Also delete the import's row in `meter_ref`, whose number is not needed again, unlike a meter's.
        try await transaction { db in
            try db.execute(
                sql: """
                    DELETE FROM meter_ref WHERE id = ?1
                        AND NOT EXISTS (SELECT 1 FROM sample_chunk WHERE meter_ref = meter_ref.ref)
                        AND NOT EXISTS (SELECT 1 FROM sample_tier WHERE meter_ref = meter_ref.ref)
                    """, arguments: [stretch.description])
        }
        return count
    }
}

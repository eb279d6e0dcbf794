package import Domain
import GRDB
package import Gateway

extension MeterStore: StoredMetersRepository {
    package func storedMeters() async throws(StoreError) -> [MeterID] {
        let tiers = SampleTier.allCases.map { "\($0.rawValue)" }.joined(separator: ", ")
        return try await access("read") { db in
            // Check for readings, because a meter whose readings were deleted still has a row in `meter_ref`.
            try String.fetchAll(
                db,
                sql: """
                    SELECT id FROM meter_ref
                    WHERE EXISTS (SELECT 1 FROM sample_chunk WHERE meter_ref = ref)
                        OR EXISTS (SELECT 1 FROM sample_tier WHERE meter_ref = ref AND tier IN (\(tiers)))
                    ORDER BY ref
                    """
            ).compactMap { MeterID($0) }.filter { !$0.isImportStretch }
        }
    }
}

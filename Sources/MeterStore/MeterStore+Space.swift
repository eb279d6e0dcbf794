import Domain
import GRDB
package import Gateway

extension MeterStore: SpaceRepository {
    /// Returns the kind of data that uses the most space, if the store's file is larger than `maxBytes`; otherwise nil.
    package func crowding(maxBytes: Int64) async throws(StoreError) -> DiskUsage? {
        try await access("read") { db in
            let used = try Pages(db).used
            guard used > maxBytes else { return nil }
            var largest: (part: String, bytes: Int64)?
            for (part, sum) in Self.parts {
                let bytes = try Int64.fetchOne(db, sql: "SELECT ifnull(sum(\(sum.length)), 0) FROM \(sum.table)") ?? 0
                if bytes > largest?.bytes ?? 0 { largest = (part, bytes) }
            }
            return largest.map {
                DiskUsage(part: $0.part, partBytes: $0.bytes, usedBytes: used, maxBytes: maxBytes)
            }
        }
    }

    /// Parts of the file except readings and one-second aggregates: name for users, and SQL expression for a row's
    /// approximate bytes.
    private static var parts: [(part: String, sum: (table: String, length: String))] {
        let value = "length(CAST(ifnull(value, '') AS BLOB)) + length(property) + 80"
        let former = "length(CAST(ifnull(value, '') AS BLOB)) + length(CAST(ifnull(new_value, '') AS BLOB)) + 200"
        return [
            ("settings", ("register", value)),
            ("overwritten settings", ("history", former)),
            ("settings that were set aside", ("aside_register", value)),
            ("settings that were refused", ("parked", "length(CAST(raw AS BLOB)) + length(reason) + 80")),
            ("the meters' log", ("meter_log", "length(CAST(what || ifnull(detail, '') AS BLOB)) + 150")),
            ("minutes and hours", ("sample_tier WHERE tier <> \(SampleTier.second.rawValue)", "length(bytes) + 40")),
        ]
    }
}

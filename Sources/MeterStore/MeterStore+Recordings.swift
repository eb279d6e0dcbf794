package import Domain
import GRDB
package import Gateway

extension MeterStore: RecordingRepository {
    package func runningRecordings() async throws(StoreError) -> [Recording] {
        try await access("read") { db in
            var properties: [String: [String: SettingValue]] = [:]
            let rows = try Row.fetchCursor(db, sql: "SELECT name, property, kind, value FROM running_recording")
            while let row = try rows.next() { properties[row[0], default: [:]][row[1]] = try SettingValue(row, at: 2) }
            // Skip a recording that only a newer version can parse; it stays in the store.
            return properties.compactMap { name, properties in
                RecordingID(recordName: name).flatMap { Recording(id: $0, properties: properties) }
            }.sorted { $0.id < $1.id }
        }
    }

    /// Stores running recordings without waiting for the disk: writes are frequent, and a loss only causes a marked
    /// gap.
    package func keep(_ recordings: [Recording]) async throws(StoreError) {
        guard !recordings.isEmpty else { return }
        try await transaction { db in
            let write = try db.cachedStatement(
                sql: """
                    INSERT INTO running_recording (name, property, kind, value) VALUES (?, ?, ?, ?)
                    ON CONFLICT (name, property) DO UPDATE SET kind = excluded.kind, value = excluded.value
                    WHERE kind IS NOT excluded.kind OR value IS NOT excluded.value
                    """)
            for recording in recordings {
                let name = recording.id.recordName
                for (property, value) in recording.properties.sorted(by: { $0.key < $1.key }) {
                    try write.execute(arguments: StatementArguments([name, property] + value.columns))
                }
            }
        }
    }

    package func forget(_ recording: RecordingID) async throws(StoreError) {
        try await transaction { db in
            try db.execute(sql: "DELETE FROM running_recording WHERE name = ?", arguments: [recording.recordName])
        }
    }
}

package import Domain
import GRDB
package import Gateway

extension MeterStore: MarkRepository {
    package func localMarks() async throws(StoreError) -> [Mark] {
        try await access("read") { db in
            try Row.fetchAll(db, sql: "SELECT id, name, end_ms FROM local_mark").compactMap { row in
                RecordingID(recordName: row[0]).map { id in
                    Mark(id: id, name: row[1], end: (row[2] as Int64?).map { WallTime(millisecondsSince1970: $0) })
                }
            }
        }
    }

    package func keepLocal(_ mark: Mark, countMax: Int) async throws(StoreError) {
        try checkStorable(mark.id.meter)
        let meter = mark.id.meter.description
        try await change { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO local_mark (id, meter, name, start_ms, end_ms) VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    mark.id.recordName, meter, mark.name, mark.start.millisecondsSince1970,
                    mark.end?.millisecondsSince1970,
                ])
            try db.execute(
                sql: """
                    DELETE FROM local_mark WHERE id IN
                        (SELECT id FROM local_mark WHERE meter = ? ORDER BY start_ms DESC, id DESC LIMIT -1 OFFSET ?)
                    """, arguments: [meter, max(0, countMax)])
        }
    }

    package func deleteLocal(_ marks: [RecordingID]) async throws(StoreError) {
        try await change { db in
            for mark in marks {
                try db.cachedStatement(sql: "DELETE FROM local_mark WHERE id = ?").execute(arguments: [mark.recordName])
            }
        }
    }

    /// Changes marks in a durable transaction, because users set them.
    private func change(_ body: @escaping @Sendable (Database) throws -> Void) async throws(StoreError) {
        try await access("written") { db in try db.inDurableTransaction(body) }
    }
}

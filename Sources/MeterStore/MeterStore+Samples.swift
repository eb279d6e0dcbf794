package import Domain
import Foundation
import GRDB
package import Gateway

extension MeterStore: SampleRepository {
    package func append(
        _ chunks: [SampleChunk], keeping counts: [MeterID: EnergyCount]
    ) async throws(StoreError) {
        guard !chunks.isEmpty || !counts.isEmpty else { return }
        for chunk in chunks { try checkStorable(chunk.meter) }
        for meter in counts.keys { try checkStorable(meter) }
        try await transaction { db in
            for chunk in chunks { try Self.insert(chunk, db) }
            for (meter, count) in counts { try Self.write(count, of: meter, db) }
        }
    }

    package func samples(
        of meter: MeterID, in span: Range<WallTime>, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        guard limit > 0, !span.isEmpty else { return [] }
        let path = path
        return try await access("read") { db in
            var collector = SampleChunkCollector(span: span, limit: limit)
            guard let reference = try Self.reference(of: meter, db) else { return [] }
            // Order by start, as in the index. Chunks may overlap if the system clock was set back.
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT id, first_ms, last_ms, count, bytes FROM sample_chunk
                    WHERE meter_ref = ? AND first_ms < ? AND last_ms >= ? ORDER BY first_ms
                    """,
                arguments: [
                    reference, span.upperBound.millisecondsSince1970, span.lowerBound.millisecondsSince1970,
                ])
            while let row = try rows.next() {
                let chunk = SampleChunk(meter: meter, row: row)
                if collector.isComplete(before: chunk.first) { break }
                if chunk.holdsSeconds { continue }
                do throws(ChunkError) {
                    collector.add(try chunk.samples())
                } catch {
                    throw StoreError(chunk: row["id"], of: chunk, path: path, because: error)
                }
            }
            return collector.finish()
        }
    }

    private static func insert(_ chunk: SampleChunk, _ db: Database) throws {
        let reference = try reference(of: chunk.meter, db) ?? newReference(to: chunk.meter, db)
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO sample_chunk (id, meter_ref, first_ms, last_ms, count, bytes)
                SELECT 1 + max(chunk, (SELECT ifnull(max(id), 0) FROM sample_chunk)), ?, ?, ?, ?, ? FROM rollup
                """)
        try statement.execute(arguments: [
            reference, chunk.first.millisecondsSince1970, chunk.last.millisecondsSince1970, chunk.count,
            Data(chunk.bytes),
        ])
    }

    static func reference(of meter: MeterID, _ db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(sql: "SELECT ref FROM meter_ref WHERE id = ?")
        return try Int64.fetchOne(statement, arguments: [meter.description])
    }

    private static func newReference(to meter: MeterID, _ db: Database) throws -> Int64 {
        try db.execute(sql: "INSERT INTO meter_ref (id) VALUES (?)", arguments: [meter.description])
        return db.lastInsertedRowID
    }
}

extension SampleChunk {
    /// - Parameter row: has `first_ms`, `last_ms`, `count` and `bytes`.
    init(meter: MeterID, row: Row) {
        let data: Data = row["bytes"]
        self.init(
            meter: meter,
            first: WallTime(millisecondsSince1970: row["first_ms"]),
            last: WallTime(millisecondsSince1970: row["last_ms"]),
            count: row["count"],
            bytes: [UInt8](data)
        )
    }
}

extension StoreError {
    init(chunk id: Int64, of chunk: SampleChunk, path: String, because error: ChunkError) {
        var code = Code.damaged
        if case .unknownVersion = error { code = .newerVersion }
        self.init(
            code,
            "the store \(path) holds \(chunk.count) readings of \(chunk.meter) from \(chunk.first) to \(chunk.last) "
                + "that cannot be read (row \(id)): \(error). They are left as they are; ask for the time before or "
                + "after them")
    }
}

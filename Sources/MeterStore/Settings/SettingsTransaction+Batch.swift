import Domain
import GRDB

extension SettingsTransaction {
    /// Implements `SyncRepository.nextBatch`. Splits a record that exceeds a batch, oldest changes first.
    mutating func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) throws -> OutboxBatch? {
        let wanted: Int64?
        if let only {
            guard let row = try row(of: only) else { return nil }
            wanted = row
        } else {
            wanted = nil
        }
        var records: [SyncRecord] = []
        var room = bytesMax
        var told: Set<Int64> = []
        types: for type in try typesThatWait() {
            let statement = try db.cachedStatement(
                sql: """
                    SELECT record FROM outbox WHERE type = ? AND record = ifnull(?, record) AND NOT \(Self.isHeldBack)
                    ORDER BY stamp_ms, stamp_counter, stamp_host
                    """)
            let rows = try Int64.fetchCursor(statement.bound(type.rawValue, wanted))
            while let row = try rows.next() {
                guard records.count < max(recordsMax, 1) else { break types }
                guard told.insert(row).inserted else { continue }
                guard let record = try waitingPart(of: row, room: room, isFirst: records.isEmpty) else { break types }
                room -= record.bytes
                records.append(record.record)
            }
        }
        guard !records.isEmpty else { return nil }
        try markTold(records)
        return OutboxBatch(records: records)
    }

    private func typesThatWait() throws -> [RecordType] {
        let statement = try db.cachedStatement(sql: "SELECT DISTINCT type FROM outbox ORDER BY type")
        let waiting = try String.fetchAll(statement).map { RecordType(rawValue: $0) }
        return RecordType.known.filter(waiting.contains) + waiting.filter { !RecordType.known.contains($0) }
    }

    /// Returns as many unsent changes of a record as fit into `room` bytes; nil if none fits.
    private func waitingPart(of row: Int64, room: Int, isFirst: Bool) throws -> (record: SyncRecord, bytes: Int)? {
        guard
            let name = try Row.fetchOne(
                try db.cachedStatement(sql: "SELECT type, name FROM record WHERE id = ?"), arguments: [row])
        else { return nil }
        let key = RecordKey(type: RecordType(rawValue: name[0]), name: name[1])
        let registers = try registers(of: row)
        var record = SyncRecord(key: key)
        var bytes = JSONText.bytesMax(of: key.type.rawValue) + JSONText.bytesMax(of: key.name) + 64
        for entry in try pending(of: row).sorted(by: { $0.stamp < $1.stamp }) {
            var part = SyncRecord(key: key)
            if entry.property.isEmpty {
                part = SyncRecord(key: key, deletion: try deletion(of: row))
            } else if let register = registers[entry.property] {
                part = SyncRecord(key: key, properties: [entry.property: register])
            }
            let size = part.properties.map { JSONText.bytesMax(of: $0.key) + $0.value.value.jsonBytes + 120 }.reduce(
                120, +)
            if bytes + size > room {
                if !isFirst { return nil }
                if !record.properties.isEmpty || record.deletion != nil { break }
            }
            record.merge(part)
            bytes += size
        }
        return (record, bytes)
    }

    private mutating func markTold(_ records: [SyncRecord]) throws {
        let statement = try db.cachedStatement(
            sql: "UPDATE outbox SET is_told = 1 WHERE record = ? AND property = ? AND is_told = 0")
        for record in records {
            guard let row = try row(of: record.key) else { continue }
            for (property, _) in record.stamps { try statement.run([row, property]) }
        }
    }
}

extension SettingValue {
    fileprivate var jsonBytes: Int {
        if case .string(let text) = self { JSONText.bytesMax(of: text) } else { 32 }
    }
}

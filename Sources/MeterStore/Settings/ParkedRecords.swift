package import Domain
import Foundation
import GRDB
package import Gateway

/// A record that this host cannot store, or that the cloud refused permanently.
package struct ParkedRecord: Hashable, Sendable {
    package enum Origin: String, Sendable {
        /// The cloud sent the record, but this host cannot store it.
        case page
        /// The cloud refused the record; this host still stores it.
        case push
    }

    package var origin: Origin
    /// Record type as received, except that control characters are written as `\u{…}`.
    package var type: String
    package var name: String
    package var reason: String
    package var raw: String
    /// Time of parking, by this host's wall clock.
    package var at: WallTime
}

extension MeterStore {
    package func parkedRecords(limit: Int) async throws(StoreError) -> [ParkedRecord] {
        try await access("read") { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT origin, type, name, reason, raw, learned_ms FROM parked ORDER BY id DESC LIMIT ?",
                arguments: [max(limit, 0)])
            return rows.map { row in
                ParkedRecord(
                    origin: ParkedRecord.Origin(rawValue: row[0]) ?? .page, type: row[1], name: row[2], reason: row[3],
                    raw: row[4], at: WallTime(millisecondsSince1970: row[5]))
            }
        }
    }

    /// Adds refused records to the outbox again, for example after an upgrade of the cloud.
    ///
    /// - Returns: number of properties added.
    package func retryParked() async throws(StoreError) -> Int {
        try await changeSettings { transaction in
            let names = try Row.fetchAll(transaction.db, sql: "SELECT type, name FROM parked WHERE origin = 'push'")
            var count = 0
            for name in names {
                count += try transaction.queueAll(of: RecordKey(type: RecordType(rawValue: name[0]), name: name[1]))
            }
            try transaction.db.execute(sql: "DELETE FROM parked WHERE origin = 'push'")
            return count
        }
    }
}

extension SettingsTransaction {
    /// Stores the record as parked (`ParkedRecord`), merged with its earlier parked properties.
    mutating func park(_ record: SyncRecord, _ origin: ParkedRecord.Origin, because reason: String) throws {
        hasParked = true
        var form = ParkedForm(record)
        if let before = try parkedForm(of: record.key, origin) {
            form.properties.merge(before.properties) { new, _ in new }
        }
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO parked (origin, type, name, reason, raw, learned_ms) VALUES (?, ?, ?, ?, ?, ?)
                """)
        try statement.run([
            origin.rawValue, record.key.type.rawValue.withoutControls, record.key.name.withoutControls,
            reason.withoutControls, try form.text, learned.millisecondsSince1970,
        ])
    }

    mutating func unpark(_ taken: SyncRecord, _ origin: ParkedRecord.Origin) throws {
        if hasParked == nil { hasParked = try Int.fetchOne(db, sql: "SELECT 1 FROM parked LIMIT 1") != nil }
        guard hasParked == true, var form = try parkedForm(of: taken.key, origin) else { return }
        for property in taken.properties.keys { form.properties[property] = nil }
        if taken.deletion != nil { form.deleted = nil }
        let key = [origin.rawValue, taken.key.type.rawValue.withoutControls, taken.key.name.withoutControls]
        if form.properties.isEmpty, form.deleted == nil {
            try db.cachedStatement(sql: "DELETE FROM parked WHERE origin = ? AND type = ? AND name = ?").run(key)
        } else {
            try db.cachedStatement(sql: "UPDATE parked SET raw = ? WHERE origin = ? AND type = ? AND name = ?")
                .run([try form.text] + key)
        }
    }

    private func parkedForm(of key: RecordKey, _ origin: ParkedRecord.Origin) throws -> ParkedForm? {
        let statement = try db.cachedStatement(
            sql: "SELECT raw FROM parked WHERE origin = ? AND type = ? AND name = ?")
        let key = [origin.rawValue, key.type.rawValue.withoutControls, key.name.withoutControls]
        guard let raw = try String.fetchOne(statement, arguments: StatementArguments(key)) else { return nil }
        return try JSONDecoder().decode(ParkedForm.self, from: Data(raw.utf8))
    }

    func isParked(_ key: RecordKey) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT 1 FROM parked WHERE origin = 'push' AND type = ? AND name = ?")
        return try Row.fetchOne(statement, arguments: [key.type.rawValue, key.name]) != nil
    }
}

extension String {
    /// Text with escaped control characters: GRDB ends a text at the first NUL, and terminals execute others.
    fileprivate var withoutControls: String {
        var text = ""
        for scalar in unicodeScalars {
            if scalar.value < 0x20 {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// A record as JSON, for users who inspect the file. Numbers are texts, because JSON cannot represent all of them.
struct ParkedForm: Codable {
    struct Property: Codable {
        var kind: String
        var value: String
        var stamp: String
    }

    var type: String
    var name: String
    var properties: [String: Property]
    var deleted: String?
    var mergedInto: String?

    init(_ record: SyncRecord) {
        type = record.key.type.rawValue
        name = record.key.name
        properties = record.properties.mapValues { register in
            let (kind, value) = Self.words(of: register.value)
            return Property(kind: kind, value: value, stamp: register.stamp.description)
        }
        deleted = record.deletion?.stamp.description
        mergedInto = record.deletion?.mergedInto
    }

    static func words(of value: SettingValue) -> (kind: String, value: String) {
        switch value {
        case .null: ("null", "")
        case .bool(let value): ("bool", "\(value)")
        case .int(let value): ("int", "\(value)")
        case .double(let value): ("double", "\(value)")
        case .string(let text): ("string", text)
        }
    }

    /// The original record; nil if a value or stamp is unreadable.
    var record: SyncRecord? {
        var registers: [String: Register] = [:]
        for (name, property) in properties {
            guard let stamp = Stamp(property.stamp), let value = Self.value(property) else { return nil }
            registers[name] = Register(value: value, stamp: stamp)
        }
        if let deleted, Stamp(deleted) == nil { return nil }
        return SyncRecord(
            key: RecordKey(type: RecordType(rawValue: type), name: name), properties: registers,
            deletion: deleted.flatMap { Stamp($0) }.map { Deletion(stamp: $0, mergedInto: mergedInto) })
    }

    private static func value(_ property: Property) -> SettingValue? {
        switch property.kind {
        case "null": .null
        case "bool": .bool(property.value == "true")
        case "int": Int64(property.value).map { .int($0) }
        case "double": Double(property.value).map { .double($0) }
        case "string": .string(property.value)
        default: nil
        }
    }

    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

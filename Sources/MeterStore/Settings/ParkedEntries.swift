package import Domain
import Foundation
import GRDB
package import Gateway
package import GatewayAPI

extension MeterStore {
    package func parked(limit: Int) async throws(StoreError) -> [ParkedEntry] {
        try await settings { transaction in
            let entries =
                try transaction.parkedEntries(limit: max(limit, 0)) + transaction.asideEntries(limit: max(limit, 0))
            return Array(entries.sorted { $0.at_ms > $1.at_ms }.prefix(max(limit, 0)))
        }
    }

    package func restoreParked(_ id: String) async throws(StoreError) -> ParkedRestore {
        guard let number = ParkedNumber(id) else { return .unknown }
        return try await changeSettings { transaction in
            switch number.list {
            case .aside: try transaction.restoreAside(number.number) ?? .unknown
            case .parked: try transaction.retryParked(number.number) ?? .unknown
            }
        }
    }

    package func dropParked(_ id: String) async throws(StoreError) -> Bool {
        guard let number = ParkedNumber(id) else { return false }
        return try await changeSettings { transaction in
            try transaction.db.execute(
                sql: "DELETE FROM \(number.list == .aside ? "aside" : "parked") WHERE id = ?",
                arguments: [number.number])
            return transaction.db.changesCount > 0
        }
    }

    package func ageParked(to confirmed: WallTime) async throws(StoreError) -> Int {
        try await changeSettings { transaction in
            let db = transaction.db
            try db.execute(
                sql: "UPDATE aside SET aged_from_ms = ? WHERE aged_from_ms IS NULL",
                arguments: [confirmed.millisecondsSince1970])
            let old = confirmed + (.zero - parkedAgeMax)
            try db.execute(
                sql: """
                    DELETE FROM aside WHERE aged_from_ms < ? AND NOT EXISTS (
                        SELECT 1 FROM aside_register WHERE aside_register.aside = aside.id AND stamp_host = ?)
                    """, arguments: [old.millisecondsSince1970, transaction.host.id.description])
            let dropped = db.changesCount
            let expired = confirmed + (.zero - ZoneEntry.absenceMax)
            try db.execute(
                sql: "DELETE FROM deletion_elsewhere WHERE is_pending = 0 AND max(learned_ms, deleted_ms) < ?",
                arguments: [expired.millisecondsSince1970])
            return dropped
        }
    }
}

/// Id as shown to users: `r7` for a refused or unstorable record, `a7` for a record of set-aside values.
private struct ParkedNumber {
    enum List: Character { case parked = "r", aside = "a" }

    var list: List
    var number: Int64

    init?(_ text: String) {
        guard let list = text.first.flatMap({ List(rawValue: $0) }), let number = Int64(text.dropFirst()) else {
            return nil
        }
        (self.list, self.number) = (list, number)
    }
}

extension SettingsTransaction {
    fileprivate func parkedEntries(limit: Int) throws -> [ParkedEntry] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, origin, reason, raw, learned_ms FROM parked ORDER BY id DESC LIMIT ?",
            arguments: [limit])
        return try rows.map { row in
            let form = try JSONDecoder().decode(ParkedForm.self, from: Data((row[3] as String).utf8))
            let isRefused = row[1] as String == ParkedRecord.Origin.push.rawValue
            return ParkedEntry(
                id: "r\(row[0] as Int64)", reason: isRefused ? .refused : .unreadable, words: row[2], type: form.type,
                name: form.name, values: form.properties.mapValues(\.value),
                own: form.properties.values.contains { Stamp($0.stamp)?.host == host.id }, zone: nil,
                at: WallTime(millisecondsSince1970: row[4]))
        }
    }

    fileprivate func asideEntries(limit: Int) throws -> [ParkedEntry] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, type, name, reason, zone_name, learned_ms FROM aside ORDER BY id DESC LIMIT ?",
            arguments: [limit])
        return try rows.map { row in
            let registers = try asideRegisters(of: row[0])
            let (reason, zone) = (row[3] as String, row[4] as String?)
            let place = zone.map { "the zone \($0)" } ?? "the zone"
            return ParkedEntry(
                id: "a\(row[0] as Int64)", reason: reason == "zone" ? .otherZone : .unlisted,
                words: reason == "zone"
                    ? "it was another host's in \(place), which this host left"
                    : "everything was read anew, and \(place) did not list it: deleted long ago, or forgotten",
                type: row[1], name: row[2], values: registers.mapValues { ParkedForm.words(of: $0.value).value },
                own: registers.values.contains { $0.stamp.host == host.id }, zone: zone,
                at: WallTime(millisecondsSince1970: row[5]))
        }
    }

    fileprivate mutating func retryParked(_ entry: Int64) throws -> ParkedRestore? {
        let row = try Row.fetchOne(db, sql: "SELECT origin, raw FROM parked WHERE id = ?", arguments: [entry])
        guard let row else { return nil }
        let form = try JSONDecoder().decode(ParkedForm.self, from: Data((row[1] as String).utf8))
        guard row[0] as String == ParkedRecord.Origin.push.rawValue else { return try keepAgain(form) }
        let key = RecordKey(type: RecordType(rawValue: form.type), name: form.name)
        let count = try queueAll(of: key)
        try db.execute(sql: "DELETE FROM parked WHERE id = ?", arguments: [entry])
        return .restored(properties: count, MergeOutcome())
    }

    private mutating func keepAgain(_ form: ParkedForm) throws -> ParkedRestore {
        guard let record = form.record else {
            return .nothing(because: "what was kept of it is not a record that this version can read")
        }
        if let fault = record.fault { return .nothing(because: "\(fault)") }
        try take(record)
        return .restored(properties: record.properties.count, try finished())
    }
}

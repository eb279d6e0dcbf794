package import Domain
import GRDB
package import Gateway

extension MeterStore: AlertRepository {
    package func alerts() async throws(StoreError) -> [StoredAlert] {
        try await access("read") { db in
            try Row.fetchAll(db, sql: "SELECT * FROM alert ORDER BY id").compactMap { StoredAlert($0) }
        }
    }

    package func addAlert(
        _ pattern: AlertPattern, of meter: MeterID, name: String?, notify: [String]
    ) async throws(StoreError) -> AlertRule {
        try checkStorable(meter)
        let id = try await access("written") { db in
            try db.inDurableTransaction { db in
                try db.execute(
                    sql: "INSERT INTO alert (meter, condition, name, notify) VALUES (?, ?, ?, ?)",
                    arguments: [meter.description, pattern.text, name, notify.joined(separator: ",")])
                return db.lastInsertedRowID
            }
        }
        return AlertRule(id: AlertID(rawValue: id), meter: meter, pattern: pattern, name: name, notify: notify)
    }

    package func keepAlerts(_ changes: AlertChanges) async throws(StoreError) {
        try await transaction { db in
            for (id, standing) in changes.standings { try Self.write(standing, of: id, db) }
            for entry in changes.sending { try Self.write(entry, db) }
            for number in changes.ended {
                try db.cachedStatement(sql: "DELETE FROM alert_notice WHERE number = ?").execute(arguments: [number])
            }
        }
    }

    private static func write(_ standing: AlertSnapshot, of id: AlertID, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE alert SET is_raised = ?, raised_ms = ?, cleared_ms = ?, count = ?, value = ?, holder = ?
                WHERE id = ?
                """)
        try statement.execute(arguments: [
            standing.isRaised, standing.raisedAt?.millisecondsSince1970, standing.clearedAt?.millisecondsSince1970,
            standing.count, standing.value, standing.holder, id.rawValue,
        ])
    }

    private static func write(_ entry: AlertOutbox.Entry, _ db: Database) throws {
        let notice = entry.notice
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO alert_notice (number, alert, target, event, meter_name, value, holder, at_ms)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM alert WHERE id = ?2)
                """)
        try statement.execute(arguments: [
            entry.number, notice.rule.rawValue, entry.target, notice.event.rawValue, notice.meterName, notice.value,
            notice.holder, notice.at.millisecondsSince1970,
        ])
    }

    package func moveAlerts(from meter: MeterID, to other: MeterID) async throws(StoreError) {
        try checkStorable(other)
        try await transaction { db in
            try db.execute(
                sql: "UPDATE alert SET meter = ? WHERE meter = ?", arguments: [other.description, meter.description])
        }
    }

    package func deleteAlerts(_ ids: [AlertID]) async throws(StoreError) {
        try await access("written") { db in
            try db.inDurableTransaction { db in
                for id in ids { try db.execute(sql: "DELETE FROM alert WHERE id = ?", arguments: [id.rawValue]) }
            }
        }
    }

    package func alertNotices() async throws(StoreError) -> [AlertOutbox.Entry] {
        try await access("read") { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT alert_notice.*, alert.id, alert.meter, alert.condition, alert.name, alert.notify
                    FROM alert_notice JOIN alert ON alert.id = alert_notice.alert ORDER BY number
                    """)
            return rows.compactMap { AlertOutbox.Entry($0) }
        }
    }

    package func lastAlertNotice() async throws(StoreError) -> Int64 {
        try await access("read") { db in
            try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'alert_notice'") ?? 0
        }
    }
}

extension AlertRule {
    /// - Returns: nil for a newer version's kind of meter id. A condition that this version cannot parse is `broken`.
    fileprivate init?(_ row: Row) {
        let (meter, condition, notify): (String, String, String) = (row["meter"], row["condition"], row["notify"])
        guard let meter = MeterID(meter) else { return nil }
        let pattern =
            (try? AlertParser.pattern(condition, isStored: true)) ?? AlertPattern(.broken, text: condition.visible)
        self.init(
            id: AlertID(rawValue: row["id"]), meter: meter, pattern: pattern, name: row["name"],
            notify: notify.split(separator: ",").map(String.init))
    }
}

extension StoredAlert {
    fileprivate init?(_ row: Row) {
        guard let rule = AlertRule(row) else { return nil }
        var standing = AlertSnapshot()
        let (raised, cleared): (Int64?, Int64?) = (row["raised_ms"], row["cleared_ms"])
        // A rule that cannot be judged would stay raised for ever.
        standing.isRaised = row["is_raised"] && rule.pattern.condition != .broken
        standing.raisedAt = raised.map { WallTime(millisecondsSince1970: $0) }
        standing.clearedAt = cleared.map { WallTime(millisecondsSince1970: $0) }
        standing.count = row["count"]
        standing.value = row["value"]
        standing.holder = row["holder"]
        self.init(rule, standing)
    }
}

extension AlertOutbox.Entry {
    fileprivate init?(_ row: Row) {
        let event: String = row["event"]
        guard let rule = AlertRule(row), let event = AlertNotice.Event(rawValue: event) else { return nil }
        var notice = AlertNotice(
            event, rule, meterName: row["meter_name"], value: row["value"],
            at: WallTime(millisecondsSince1970: row["at_ms"]))
        notice.holder = row["holder"]
        self.init(number: row["number"], target: row["target"], notice: notice)
    }
}

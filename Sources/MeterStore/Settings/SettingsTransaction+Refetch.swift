import Domain
import GRDB

// A full resync of a record type ("refetch") follows an expired change token or unknown progress: the cloud sends all
// its records of the type. This host sets aside values that the cloud does not send, because they were deleted or lost.
// It keeps unsent and refused values, because they are its own.

extension SettingsTransaction {
    /// Returns the number of the type's current full resync; nil if none is in progress.
    mutating func refetch(of type: RecordType) throws -> Int64? {
        if let known = refetches[type] { return known }
        let statement = try db.cachedStatement(
            sql: "SELECT refetch FROM progress WHERE type = ? AND is_refetching = 1")
        let refetch = try Int64.fetchOne(statement, arguments: [type.rawValue])
        refetches[type] = .some(refetch)
        return refetch
    }

    mutating func markSeen(_ key: RecordKey) throws {
        guard let refetch = try refetch(of: key.type), let row = try row(of: key) else { return }
        try db.cachedStatement(sql: "UPDATE record SET seen_in = ? WHERE id = ?").run([refetch, row])
    }

    /// Stores the page's change token, from which the next fetch continues. After the last page of a full resync, first
    /// sets aside records that no page contained.
    mutating func advance(_ page: ChangesPage, refetch: Int64?) throws {
        if let refetch, page.moreComing {
            let statement = try db.cachedStatement(sql: "UPDATE progress SET cursor = ? WHERE type = ? AND refetch = ?")
            try statement.run([page.token, page.type.rawValue, refetch])
            return
        }
        if let refetch { try setAsideUnseen(page.type, refetch: refetch) }
        if !page.moreComing { outcome.toldAgain = try repeatTold(of: page.type) }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO progress (type, token) VALUES (?, ?)
                ON CONFLICT (type) DO UPDATE SET token = excluded.token, is_refetching = 0, cursor = NULL
                """)
        try statement.run([page.type.rawValue, page.token])
    }

    mutating func setAsideWhatIsNotListed(_ sent: SyncRecord) throws {
        guard let row = try row(of: sent.key), let before = try record(sent.key) else { return }
        try setAside(before, row, listed: sent)
    }

    private mutating func setAsideUnseen(_ type: RecordType, refetch: Int64) throws {
        let unseen = try Row.fetchAll(
            db, sql: "SELECT id, name FROM record WHERE type = ? AND seen_in <> ?",
            arguments: [type.rawValue, refetch])
        for found in unseen {
            guard let before = try record(RecordKey(type: type, name: found[1])) else { continue }
            try setAside(before, found[0], listed: nil)
        }
    }

    /// Sets aside values that the cloud does not list, except unsent or unconfirmed ones. Removes the record if it
    /// becomes empty.
    private mutating func setAside(_ before: SyncRecord, _ row: Int64, listed: SyncRecord?) throws {
        guard try !isParked(before.key) else { return }
        let told = try told(of: row).map(\.property).filter { before.stamps.map(\.property).contains($0) }
        let waiting = Set(try pending(of: row).map(\.property) + told)
        let gone = before.properties.filter { property, register in
            guard listed?.properties[property] == nil, !waiting.contains(property) else { return false }
            // Do not set this property aside: the listed deletion removes it during the merge, which records the
            // deletion's author in the history.
            return listed?.deletion.map { $0.stamp < register.stamp } ?? true
        }
        let losesDeletion = before.deletion != nil && listed?.deletion == nil && !waiting.contains("")
        let zone = gone.isEmpty ? nil : try MembershipRow(db)
        for (property, register) in gone.sorted(by: { $0.key < $1.key }) {
            try putAside(
                property, register, of: before.key, because: "unlisted", zone: zone?.zone ?? "",
                zoneName: zone?.zoneName)
            try remove(property, of: row)
        }
        if !gone.isEmpty { outcome.parked += 1 }
        if losesDeletion { try write(nil, of: row) }
        if gone.count == before.properties.count, listed == nil, waiting.isEmpty { try forget(row, before.key) }
        guard losesDeletion || !gone.isEmpty else { return }
        let rest = before.properties.filter { gone[$0.key] == nil }
        report(SyncRecord(key: before.key, properties: rest, deletion: losesDeletion ? nil : before.deletion))
    }
}

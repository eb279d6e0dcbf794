import Domain
import GRDB

// A full resync of a type follows an expired token or unknown progress: the cloud then sends all that it has. Missing
// values were deleted long ago or lost. Nobody knows which, so they are set aside, not deleted. Waiting and refused
// values stay: they are this host's own.

extension SettingsTransaction {
    /// Returns the number of the running refetch, if any.
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

    /// Stores the type's progress. The last page of a refetch first sets aside unseen records.
    mutating func advance(_ page: ChangesPage, refetch: Int64?, into result: inout MergeOutcome) throws {
        if let refetch, page.moreComing {
            let statement = try db.cachedStatement(sql: "UPDATE progress SET cursor = ? WHERE type = ? AND refetch = ?")
            try statement.run([page.token, page.type.rawValue, refetch])
            return
        }
        if let refetch { try setAsideUnseen(page.type, refetch: refetch, into: &result) }
        if !page.moreComing { result.toldAgain += try repeatTold(of: page.type) }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO progress (type, token) VALUES (?, ?)
                ON CONFLICT (type) DO UPDATE SET token = excluded.token, is_refetching = 0, cursor = NULL
                """)
        try statement.run([page.type.rawValue, page.token])
    }

    mutating func setAsideWhatIsNotListed(_ sent: SyncRecord, into result: inout MergeOutcome) throws {
        guard let row = try row(of: sent.key), let before = try record(sent.key) else { return }
        if try setAside(before, row, listed: sent, into: &result) { report(sent.key, in: &result) }
    }

    private mutating func setAsideUnseen(
        _ type: RecordType, refetch: Int64, into result: inout MergeOutcome
    ) throws {
        let unseen = try Row.fetchAll(
            db, sql: "SELECT id, name FROM record WHERE type = ? AND seen_in <> ?",
            arguments: [type.rawValue, refetch])
        for found in unseen {
            let key = RecordKey(type: type, name: found[1])
            guard let before = try record(key) else { continue }
            if try setAside(before, found[0], listed: nil, into: &result) { report(key, in: &result) }
        }
    }

    /// Removes unlisted values, except those that this host has to send. Removes an empty record.
    private mutating func setAside(
        _ before: SyncRecord, _ row: Int64, listed: SyncRecord?, into result: inout MergeOutcome
    ) throws -> Bool {
        guard try !isParked(before.key) else { return false }
        let told = try told(of: row).map(\.property).filter { before.stamps.map(\.property).contains($0) }
        let waiting = Set(try pending(of: row).map(\.property) + told)
        let gone = before.properties.filter { property, register in
            guard listed?.properties[property] == nil, !waiting.contains(property) else { return false }
            // A listed deletion hides it at the merge, and the history records by whom.
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
        if !gone.isEmpty { result.parked += 1 }
        if losesDeletion { try write(nil, of: row) }
        // The deletion was removed above as well, because none waits.
        if gone.count == before.properties.count, listed == nil, waiting.isEmpty { try forget(row, before.key) }
        return losesDeletion || !gone.isEmpty
    }
}

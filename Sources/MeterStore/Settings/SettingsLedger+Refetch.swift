import GRDB
import MeterModel
import SettingsCore
import SyncCore

import struct SettingsCore.Record

// A type is read anew after its token expired: what the cloud sends then is all that it has, so what is not sent is no
// more. Only what waits to be told, or was parked, is this host's own word still.

extension SettingsLedger {
    /// The number of the refetch that is under way, nil for none.
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

    /// Stores how far the type is read; with the last page of a refetch, what was not seen goes first.
    mutating func advance(_ page: ChangesPage, refetch: Int64?, into result: inout MergeOutcome) throws {
        if let refetch, page.moreComing {
            let statement = try db.cachedStatement(sql: "UPDATE progress SET cursor = ? WHERE type = ? AND refetch = ?")
            try statement.run([page.token, page.type.rawValue, refetch])
            return
        }
        if let refetch { try forgetUnseen(page.type, refetch: refetch, into: &result) }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO progress (type, token) VALUES (?, ?)
                ON CONFLICT (type) DO UPDATE SET token = excluded.token, is_refetching = 0, cursor = NULL
                """)
        try statement.run([page.type.rawValue, page.token])
    }

    /// Of a record that the cloud sent: takes away what it no longer has of it.
    mutating func forgetWhatTheCloudForgot(_ sent: Record, into result: inout MergeOutcome) throws {
        guard let row = try row(of: sent.key), let before = try record(sent.key) else { return }
        let known = Set(sent.properties.keys)
        if try forget(before, row, keeping: known, keepsDeletion: sent.deletion != nil) {
            result.changed.append(sent.key)
        }
    }

    private mutating func forgetUnseen(
        _ type: RecordType, refetch: Int64, into result: inout MergeOutcome
    ) throws {
        let unseen = try Row.fetchAll(
            db, sql: "SELECT id, name FROM record WHERE type = ? AND seen_in <> ?",
            arguments: [type.rawValue, refetch])
        let changed = Set(result.changed)
        for found in unseen {
            let key = RecordKey(type: type, name: found[1])
            let row: Int64 = found[0]
            guard let before = try record(key) else { continue }
            let hasChanged = try forget(before, row, keeping: [], keepsDeletion: false)
            if hasChanged, !changed.contains(key) { result.changed.append(key) }
        }
    }

    /// Takes away what neither the cloud has nor this host still has to tell; an empty record goes altogether.
    private mutating func forget(
        _ before: Record, _ row: Int64, keeping known: Set<String>, keepsDeletion: Bool
    ) throws -> Bool {
        guard try !isParked(before.key) else { return false }
        let waiting = Set(try pending(of: row).map(\.property))
        let gone = before.properties.filter { !known.contains($0.key) && !waiting.contains($0.key) }
        let losesDeletion = before.deletion != nil && !keepsDeletion && !waiting.contains("")
        for (property, register) in gone.sorted(by: { $0.key < $1.key }) {
            try remove(property, of: row)
            // Somebody deleted it so long ago that the cloud no longer knows who.
            let by = Stamp(
                milliseconds: host.clock.milliseconds, counter: host.clock.counter, host: HostID(high: 0, low: 0))
            try remember(OverwrittenValue(property: property, old: register, new: nil, by: by), of: before.key)
        }
        if losesDeletion { try write(nil, of: row) }
        let isEmpty = gone.count == before.properties.count && (before.deletion == nil || losesDeletion)
        if isEmpty, known.isEmpty, !keepsDeletion, waiting.isEmpty { try forget(row, before.key) }
        return losesDeletion || !gone.isEmpty
    }
}

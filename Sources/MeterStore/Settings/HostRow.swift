package import Domain
import Foundation
import GRDB
import Gateway

package struct Machine: Hashable, Sendable {
    /// Digest of a machine id such as /etc/machine-id. It differs after the store's file is copied to another machine.
    package var digest: String
    package var boot: String

    package init(digest: String, boot: String) {
        self.digest = digest
        self.boot = boot
    }
}

/// This host's identity (Docs/Leases.md#rule-11).
package struct HostIdentity: Hashable, Sendable {
    package var host: HostID
    /// Previous host id, if another machine created the file; nil otherwise. The host must then join the cloud again.
    package var replaced: HostID?

    package init(host: HostID, replaced: HostID? = nil) {
        self.host = host
        self.replaced = replaced
    }
}

struct HostRow {
    var id: HostID
    var machine: String?
    var clock: HybridClock
    /// Greatest stamp that the cloud accepted or sent. Its host part has no meaning.
    var cloudMark: Stamp
    var epoch: String?

    init(_ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT id, machine, clock_ms, clock_counter, cloud_ms, cloud_counter, epoch FROM host")
        guard let row = try Row.fetchOne(statement), let id = HostID(row[0] as String) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table host has no valid id")
        }
        self.id = id
        machine = row[1]
        clock = HybridClock(host: id, milliseconds: UInt64(stored: row[2]), counter: UInt16(stored: row[3]))
        cloudMark = Stamp(milliseconds: UInt64(stored: row[4]), counter: UInt16(stored: row[5]), host: id)
        epoch = row[6]
    }

    func save(_ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE host SET id = ?, machine = ?, clock_ms = ?, clock_counter = ?, cloud_ms = ?, cloud_counter = ?,
                    epoch = ?
                """)
        try statement.execute(arguments: [
            id.description, machine, Int64(clock.milliseconds), Int64(clock.counter), Int64(cloudMark.milliseconds),
            Int64(cloudMark.counter), epoch,
        ])
    }

    /// Copies id and hybrid clock of the damaged file to the new file. The host fetches the cloud's data again.
    func restoreIdentity(_ db: Database) throws {
        try db.inDurableTransaction { db in
            var row = try HostRow(db)
            (row.id, row.machine, row.clock, row.cloudMark) = (id, machine, clock, cloudMark)
            try row.save(db)
        }
    }

    static func drawID(_ db: Database) throws -> HostID {
        let bytes = try Data.fetchOne(db, sql: "SELECT randomblob(16)") ?? Data()
        var rng = DrawnBytes(bytes: [UInt8](bytes)[...])
        return HostID(using: &rng)
    }

    /// Binds the file to its machine. A copied file gets a new host id.
    static func identify(on machine: Machine?, _ db: Database) throws -> HostIdentity {
        var row = try HostRow(db)
        guard let machine, machine.digest != row.machine else { return HostIdentity(host: row.id) }
        let replaced = row.machine == nil ? nil : row.id
        try db.inDurableTransaction { db in
            row.machine = machine.digest
            if replaced != nil { row.id = try drawID(db) }
            try row.save(db)
            // Delete the session id: this host must never take over leases of a process on another machine.
            if replaced != nil { try db.execute(sql: "UPDATE host SET session = NULL") }
        }
        return HostIdentity(host: row.id, replaced: replaced)
    }
}

private struct DrawnBytes: RandomNumberGenerator {
    var bytes: ArraySlice<UInt8>

    mutating func next() -> UInt64 {
        defer { bytes = bytes.dropFirst(8) }
        return bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

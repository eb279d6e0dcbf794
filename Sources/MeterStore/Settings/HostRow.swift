import Foundation
import GRDB
import Gateway
package import MeterModel
import SettingsCore

/// Where the store runs, as its opener knows it.
package struct Machine: Hashable, Sendable {
    /// A digest of what is this machine's own, such as /etc/machine-id. Another one means that the file was copied.
    package var digest: String
    /// Of this start of the machine.
    package var boot: String

    package init(digest: String, boot: String) {
        self.digest = digest
        self.boot = boot
    }
}

/// Who this host is (Docs/Leases.md#rule-11).
package struct HostIdentity: Hashable, Sendable {
    package var host: HostID
    /// The id that the file came with, where it was made on another machine: this one has to join the cloud anew.
    package var replaced: HostID?

    package init(host: HostID, replaced: HostID? = nil) {
        self.host = host
        self.replaced = replaced
    }
}

/// The one row of the table `host`.
struct HostRow {
    var id: HostID
    var machine: String?
    var clock: HybridClock
    /// The greatest stamp that the cloud accepted or sent. Its host does not matter.
    var cloudMark: Stamp
    var epoch: String?

    init(_ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT id, machine, clock_ms, clock_counter, cloud_ms, cloud_counter, epoch FROM host")
        guard let row = try Row.fetchOne(statement), let id = HostID(row[0] as String) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table host does not say who this host is")
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

    /// Gives a new file's host the id and the clock of the damaged file before it. What that file had read of a cloud is
    /// read anew.
    func restoreIdentity(_ db: Database) throws {
        try db.inDurableTransaction { db in
            var row = try HostRow(db)
            (row.id, row.machine, row.clock, row.cloudMark) = (id, machine, clock, cloudMark)
            try row.save(db)
        }
    }

    /// A new id. The bits are SQLite's, which has them from the system.
    static func drawID(_ db: Database) throws -> HostID {
        let bytes = try Data.fetchOne(db, sql: "SELECT randomblob(16)") ?? Data()
        var rng = DrawnBytes(bytes: [UInt8](bytes)[...])
        return HostID(using: &rng)
    }

    /// Binds the file to the machine it lies on, or gives the host a new id where it was bound to another one.
    static func identify(on machine: Machine?, _ db: Database) throws -> HostIdentity {
        var row = try HostRow(db)
        guard let machine, machine.digest != row.machine else { return HostIdentity(host: row.id) }
        let replaced = row.machine == nil ? nil : row.id
        try db.inDurableTransaction { db in
            row.machine = machine.digest
            if replaced != nil { row.id = try drawID(db) }
            try row.save(db)
            // The other machine's run is not one that this one may continue.
            if replaced != nil { try db.execute(sql: "UPDATE host SET session = NULL") }
        }
        return HostIdentity(host: row.id, replaced: replaced)
    }
}

/// Random bytes that were drawn elsewhere, as a generator. Zeros after the last.
private struct DrawnBytes: RandomNumberGenerator {
    var bytes: ArraySlice<UInt8>

    mutating func next() -> UInt64 {
        defer { bytes = bytes.dropFirst(8) }
        return bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

import Cloud
package import Domain
import Foundation
import GRDB
import StoreKit

/// Restores a backup into a data folder that no cloud is using (Docs/Leases.md#rule-5 and
/// Docs/Sync.md#zones-and-change-tokens). Renames the previous store.
///
/// A new epoch makes hosts fetch and push everything again. New fencing tokens exceed any granted since the backup.
/// After its next start, the store grants no new lease until former holders must have stopped.
package struct CloudRestore: Hashable, Sendable {
    package var epoch: String
    package var tokenFloor: UInt64
    package var zones: Int
    package var records: Int
    package var leases: Int
    /// New path of the previous store; nil if there was none.
    package var replaced: String?

    /// - Parameters:
    ///   - backup: a result of `SQLiteCloudEngine.backup`, only read.
    ///   - ignoresClock: accepts a `now` before the backup's date. Fencing tokens then begin as of the backup's date.
    /// - Throws: `locked` while a cloud uses the folder; `clockBehind` if `now` is before the backup's date, because
    ///   fencing tokens would begin too low; `damaged` for a file that is not a backup. Dates within the backup do not
    ///   matter, because a host's clock may have been years ahead.
    package static func run(
        from backup: String, into directory: String, at now: WallTime, ignoresClock: Bool = false,
        rng: inout some RandomNumberGenerator
    ) throws(CloudStoreError) -> CloudRestore {
        let lock = try StoreLock(directory: directory)
        defer { lock.release() }
        let files = DataDirectory(directory)
        let epoch = UniqueID<Never>(using: &rng).description
        var report: CloudRestore
        do {
            report = try copy(backup, to: files.restored, epoch: epoch, at: now, ignoresClock: ignoresClock)
        } catch {
            throw CloudStoreError(error, path: backup, action: "restored")
        }
        report.replaced = try files.setAside(as: "replaced", at: now)
        try FileSystem.move(files.restored, to: files.store)
        return report
    }

    private static func copy(
        _ backup: String, to restored: String, epoch: String, at now: WallTime, ignoresClock: Bool
    ) throws -> Self {
        guard FileSystem.exists(backup) else { throw CloudStoreError(.system, "there is no backup \(backup)") }
        var configuration = Configuration()
        configuration.readonly = true
        let source = try DatabaseQueue(path: backup, configuration: configuration)
        var report: CloudRestore?
        try source.read { db in
            try check(db, path: backup)
            try SQLiteCloudEngine.copy(db, to: restored) { copy in
                let time = try checkedTime(of: copy, path: backup, now: now, ignoresClock: ignoresClock)
                report = try CloudRestore(marking: copy, epoch: epoch, now: time)
            }
        }
        guard let report else { throw CloudStoreError(.system, "\(backup) was not copied") }
        return report
    }

    static func check(_ db: Database, path: String) throws {
        let faults = try CloudSchema.faults(db)
        guard faults.isEmpty else {
            throw CloudStoreError(
                .damaged, "the backup \(path) is damaged (\(faults.prefix(3).joined(separator: "; "))). Use another one"
            )
        }
        guard try !CloudSchema.inspect(db, path: path) else {
            throw CloudStoreError(.damaged, "\(path) is empty: no backup of a cloud")
        }
    }

    /// Returns `now`, unless the file contains a later time of a backup or a move: then throws or, with `ignoresClock`,
    /// returns that time. A copied store file contains neither time.
    private static func checkedTime(
        of db: Database, path: String, now: WallTime, ignoresClock: Bool
    ) throws -> WallTime {
        let dates = [try Meta.backup.read(db), try Meta.departed.read(db)].compactMap { $0.flatMap { Int64($0) } }
        guard let written = dates.max().map({ WallTime(millisecondsSince1970: $0) }), now < written else { return now }
        guard ignoresClock else {
            throw CloudStoreError(
                .clockBehind,
                "the backup \(path) is from \(written), and this machine's clock says \(now). Set the clock, then "
                    + "restore; or restore with --ignore-clock, should the backup's date be the wrong one")
        }
        return written
    }

    private init(marking db: Database, epoch: String, now: WallTime) throws {
        let greatest = try Int64.fetchOne(db, sql: "SELECT max(token) FROM lease") ?? 0
        let earlier = try Meta.tokenFloor.read(db).flatMap { UInt64($0) } ?? 0
        let floor = max(UInt64(clamping: greatest) + 1, earlier, FencingToken.floor(ofRestoreAt: now).rawValue)
        self.epoch = epoch
        tokenFloor = min(floor, FencingToken.max.rawValue)
        zones = try Table("zone").fetchCount(db)
        records = try Table("record").fetchCount(db)
        leases = try Table("lease").fetchCount(db)
        try Meta.epoch.write(epoch, db)
        try Meta.tokenFloor.write(String(tokenFloor), db)
        try Meta.restoring.write("1", db)
        for mark in [Meta.backup, .destination, .departed] { try mark.remove(db) }
    }
}

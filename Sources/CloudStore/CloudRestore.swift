import Foundation
import GRDB
import LeaseCore
package import MeterModel

/// Puts a backup into a data directory that no cloud is using (leases-and-sync.md, section 1, rule 5, and section 5).
///
/// The restored store has a new epoch, so that hosts fetch and push everything anew; its tokens begin above any that can
/// have been given out since the backup; and from its next start on, nothing goes to anybody new until old holders have
/// surely stopped. What was in the directory before is kept under another name.
package struct CloudRestore: Hashable, Sendable {
    /// Of the restored store.
    package var epoch: String
    package var tokenFloor: UInt64
    package var zones: Int
    package var records: Int
    package var leases: Int
    /// Where the store is that was there before; nil: there was none.
    package var replaced: String?

    /// - Parameters:
    ///   - backup: what `SQLiteCloudEngine.backup` made. It is only read.
    ///   - now: this machine's calendar.
    /// - Throws: `locked` while a cloud uses the directory; `clockBehind` where the calendar is older than the backup,
    ///   because tokens would begin too low; `damaged` for a backup that is none.
    package static func run(
        from backup: String, into directory: String, at now: WallTime, dice: inout some RandomNumberGenerator
    ) throws(CloudStoreError) -> CloudRestore {
        let lock = try DirectoryLock(directory)
        defer { lock.release() }
        let files = DataDirectory(directory)
        let epoch = UniqueID<Never>(using: &dice).description
        var report: CloudRestore
        do {
            report = try copy(backup, to: files.restored, epoch: epoch, at: now)
        } catch {
            throw CloudStoreError(error, path: backup, action: "restored")
        }
        report.replaced = try files.setAside(as: "replaced", at: now)
        try FileSystem.move(files.restored, to: files.store)
        return report
    }

    private static func copy(_ backup: String, to restored: String, epoch: String, at now: WallTime) throws -> Self {
        guard FileSystem.exists(backup) else { throw CloudStoreError(.system, "there is no backup \(backup)") }
        var configuration = Configuration()
        configuration.readonly = true
        let source = try DatabaseQueue(path: backup, configuration: configuration)
        defer {
            // It was only read; there is nothing that closing it could lose.
            try? source.close()
        }
        var report: CloudRestore?
        try source.read { db in
            try check(db, path: backup)
            try SQLiteCloudEngine.copy(db, to: restored) { copy in
                try checkClock(copy, path: backup, now: now)
                report = try CloudRestore(marking: copy, epoch: epoch, now: now)
            }
        }
        guard let report else { throw CloudStoreError(.system, "\(backup) was not copied") }
        return report
    }

    private static func check(_ db: Database, path: String) throws {
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

    private static func checkClock(_ db: Database, path: String, now: WallTime) throws {
        let written = try Meta.backup.read(db).flatMap { Int64($0) }
        let times = try Row.fetchOne(
            db,
            sql: """
                SELECT (SELECT max(acquired_ms) FROM lease) AS acquired, (SELECT max(created_ms) FROM credential) AS made,
                       (SELECT max(revoked_ms) FROM credential) AS revoked
                """)
        let newest = [written, times?["acquired"], times?["made"], times?["revoked"]].compactMap { $0 }.max() ?? 0
        guard now.millisecondsSince1970 >= newest else {
            throw CloudStoreError(
                .clockBehind,
                "the backup \(path) is from \(WallTime(millisecondsSince1970: newest)), and this machine's clock says "
                    + "\(now). Set the clock, then restore")
        }
    }

    /// Makes a copy of a backup a store of its own.
    private init(marking db: Database, epoch: String, now: WallTime) throws {
        let greatest = try Int64.fetchOne(db, sql: "SELECT max(token) FROM lease") ?? 0
        let earlier = try Meta.tokenFloor.read(db).flatMap { UInt64($0) } ?? 0
        let seconds = UInt64(clamping: now.millisecondsSince1970 / 1000)
        let byClock = seconds.multipliedReportingOverflow(by: 1 << 20)
        let floor = max(
            UInt64(clamping: greatest) + 1, earlier, byClock.overflow ? FencingToken.max.rawValue : byClock.partialValue
        )
        self.epoch = epoch
        tokenFloor = min(floor, FencingToken.max.rawValue)
        zones = try Int.fetchOne(db, sql: "SELECT count(*) FROM zone") ?? 0
        records = try Int.fetchOne(db, sql: "SELECT count(*) FROM record") ?? 0
        leases = try Int.fetchOne(db, sql: "SELECT count(*) FROM lease") ?? 0
        try Meta.epoch.write(epoch, db)
        try Meta.tokenFloor.write(String(tokenFloor), db)
        try Meta.restoring.write("1", db)
        for mark in [Meta.backup, .destination, .departed] { try mark.remove(db) }
    }
}

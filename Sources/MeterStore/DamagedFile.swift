import Domain
import Foundation
import GRDB
import Gateway
import Glibc
import StoreKit

/// A damaged or lost store file: its new path, and a message for the log and for users
/// (Docs/SettingsAndRebuild.md#the-store).
package struct QuarantinedFile: Hashable, Sendable {
    package var path: String
    package var message: String
}

/// Loss of a store's file while it was closed.
enum Loss: Hashable, Sendable {
    case emptied
    /// The file is missing. `hasLog`: SQLite's write-ahead log still exists.
    case deleted(hasLog: Bool)
}

/// Handles damaged or lost store files. Never deletes any part of them.
enum DamagedFile {
    /// Returns whether the error means that the file is damaged, not just inaccessible.
    static func isMeant(by error: any Error) -> Bool {
        (error as? DatabaseError).map { StoreError.Code($0) } == .damaged
    }

    /// Returns whether the damaged file is a store of this program, by header or table names. Other files must not be
    /// renamed.
    static func wasOurs(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        guard let start = try? file.read(upToCount: 1 << 16) else { return false }
        let header = Data("SQLite format 3\0".utf8)
        let id = withUnsafeBytes(of: StoreSchema.applicationID.bigEndian) { Data($0) }
        if start.prefix(16) == header, start.count >= 72, start[68..<72] == id { return true }
        return ["CREATE TABLE sample_chunk", "CREATE TABLE meter ("].contains { start.range(of: Data($0.utf8)) != nil }
    }

    /// Renames the file and its write-ahead log to `<path>.<word>-<n>`; returns the file's new path.
    static func setAside(_ path: String, as word: String = "damaged") throws(StoreError) -> String {
        let files = FileManager.default
        var number = 1
        while ["", "-wal"].contains(where: { files.fileExists(atPath: "\(path).\(word)-\(number)\($0)") }) {
            number += 1
        }
        let aside = "\(path).\(word)-\(number)"
        // Move the file before its write-ahead log. After an interruption, the next opening then also moves the log. In
        // the reverse order, it would use the outdated file without its log.
        for suffix in ["", "-wal", "-shm"] where files.fileExists(atPath: path + suffix) {
            do {
                try files.moveItem(atPath: path + suffix, toPath: aside + suffix)
            } catch {
                throw StoreError(
                    .damaged,
                    "the store \(path) cannot be renamed to make room for a new one: \(error). Move it away, then "
                        + "start again")
            }
        }
        return aside
    }

    /// Returns the host's identity from a damaged file, so that the host need not join the cloud again; nil if
    /// unreadable.
    static func host(in path: String) -> HostRow? {
        var configuration = Configuration()
        configuration.readonly = true
        return try? DatabaseQueue(path: path, configuration: configuration).read { try HostRow($0) }
    }

    // MARK: - Loss

    /// Path of a marker file, which means that a store existed here. A missing or empty store file is then a loss, not
    /// a new host.
    static func madePath(_ path: String) -> String { path + ".made" }

    static func noteMade(_ path: String) {
        guard !FileManager.default.fileExists(atPath: madePath(path)) else { return }
        // Ignore a failure: the next opening tries again.
        _ = FileManager.default.createFile(atPath: madePath(path), contents: Data())
    }

    /// Returns how the file was lost; nil if it has contents, or never existed.
    ///
    /// SQLite would treat an empty file as a new database and delete its log, which may contain all data.
    static func loss(of path: String) -> Loss? {
        let bytes = size(path)
        guard bytes ?? 0 == 0 else { return nil }
        let hasLog = size(path + "-wal") ?? 0 > 0
        guard hasLog || FileManager.default.fileExists(atPath: madePath(path)) else { return nil }
        return bytes == nil ? .deleted(hasLog: hasLog) : .emptied
    }

    private static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    // MARK: - Doubt

    /// Path of a marker file, which means that an access found damage. The next opening then checks the whole store
    /// file.
    static func doubtPath(_ path: String) -> String { path + ".suspect" }

    static func doubt(_ path: String) {
        // Ignore a failure: the next access that finds the damage tries again.
        _ = FileManager.default.createFile(atPath: doubtPath(path), contents: Data())
    }

    /// If the marker `doubtPath` exists, checks the whole file. Throws if it is damaged; otherwise removes the marker.
    static func settleDoubt(_ db: Database, path: String) throws {
        guard FileManager.default.fileExists(atPath: doubtPath(path)) else { return }
        let faults = try String.fetchAll(db, sql: "PRAGMA quick_check(3)").filter { $0 != "ok" }
        guard faults.isEmpty else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: faults.joined(separator: "; "))
        }
        clearDoubt(path)
    }

    static func clearDoubt(_ path: String) {
        try? FileManager.default.removeItem(atPath: doubtPath(path))
    }
}

extension QuarantinedFile {
    init(of path: String, to aside: String, because error: any Error, keepsHost: Bool) {
        let reason = (error as? DatabaseError)?.message ?? "\(error)"
        let host =
            keepsHost
            ? "This host keeps its id, and the settings come back with the next sync"
            : "This host has a new id: join the cloud again, and the settings come back"
        self.init(
            path: aside,
            message:
                "the store \(path) is damaged (\(reason)). It was renamed to \(aside) and a new one begun. \(host); "
                + "readings, and settings that were not synced yet, are in the renamed file: sqlite3 \(aside) .recover")
    }

    init(of path: String, to aside: String?, because loss: Loss) {
        let what = loss == .emptied ? "is empty, though it was not" : "is gone"
        let rest = aside.map { " What is left was renamed to \($0)." } ?? ""
        self.init(
            path: aside ?? path,
            message:
                "the store \(path) \(what).\(rest) A new one was begun, and this host has a new id. If you have a backup, "
                + "stop the program and put it in its place; if not, join the cloud again, and the settings come back")
    }
}

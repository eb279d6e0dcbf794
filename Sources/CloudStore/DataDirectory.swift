import Domain
import Foundation
import StoreKit

struct DataDirectory: Sendable {
    let path: String

    init(_ path: String) { self.path = path }

    var store: String { path + "/cloud.db" }
    var restored: String { path + "/cloud.db.restoring" }

    static let companions = ["-wal", "-shm"]

    func checkUsable() throws(CloudStoreError) {
        let files = FileManager.default
        guard !files.fileExists(atPath: store) else {
            guard !isEmptied else {
                throw CloudStoreError(
                    .damaged,
                    "the store \(store) is empty, though it was not. Restore it from a backup, or, for a new cloud that "
                        + "every host has to join, remove it and \(made)")
            }
            return
        }
        if files.fileExists(atPath: restored) {
            throw CloudStoreError(.damaged, "a restore into \(path) was interrupted; run it again")
        }
        if files.fileExists(atPath: store + "-wal") {
            throw CloudStoreError(
                .damaged, "\(path) has the log of a store, but not the store itself; restore it from a backup")
        }
        guard !files.fileExists(atPath: made) else {
            throw CloudStoreError(
                .damaged,
                "the store \(store) is gone. Restore it from a backup, or, for a new cloud that every host has to join, "
                    + "remove \(made)")
        }
    }

    /// Marker file beside a store, without which an emptied or deleted store would look new.
    private var made: String { store + ".made" }

    func noteMade() {
        // If this fails, the next opening of the store creates the file.
        _ = FileManager.default.createFile(atPath: made, contents: Data())
    }

    /// Whether an existing store's file is now empty. SQLite would treat it as new, and delete the write-ahead log
    /// beside it.
    private var isEmptied: Bool {
        FileSystem.size(store) == 0 && (FileSystem.exists(made) || FileSystem.size(store + "-wal") ?? 0 > 0)
    }

    /// Renames the store's files. Renames the database first, because the other files are not opened without it. The
    /// caller holds the store's lock.
    ///
    /// - Parameter word: part of the new name.
    /// - Returns: the new path; nil if there was no store.
    func setAside(as word: String, at now: WallTime) throws(CloudStoreError) -> String? {
        StoreCopy.writeBackLog(of: store)
        try FileSystem.remove(made)
        var number = now.millisecondsSince1970 / 1000
        while FileSystem.exists("\(store).\(word)-\(number)") { number += 1 }
        let aside = "\(store).\(word)-\(number)"
        let hadStore = FileSystem.exists(store)
        for suffix in [""] + Self.companions where FileSystem.exists(store + suffix) {
            try FileSystem.move(store + suffix, to: aside + suffix)
        }
        return hadStore ? aside : nil
    }
}

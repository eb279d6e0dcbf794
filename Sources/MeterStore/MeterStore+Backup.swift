import GRDB
package import Gateway
import Glibc
import StoreKit
import Synchronization

extension MeterStore {
    /// Writes a snapshot of the store to a new file and waits for the disk. Other calls can write to the store
    /// meanwhile.
    ///
    /// The copy contains no session (`leaseSession`), so that a host with the copy cannot take over the original host's
    /// leases (Docs/Leases.md#what-a-host-can-ask).
    package func backup(to path: String) async throws(StoreError) {
        let isStopped = Atomic(false)
        do {
            try await withTaskCancellationHandler {
                try await Self.reading(self.path) { source in
                    try StoreCopy.write(source, to: path, isStopped: { isStopped.load(ordering: .relaxed) }) {
                        try $0.write(Self.forgetSession)
                    }
                }
            } onCancel: {
                isStopped.store(true, ordering: .relaxed)
            }
        } catch {
            throw StoreError(error, path: path, action: "written")
        }
    }

    /// Checks the whole backup file. Throws if it cannot be restored.
    package static func checkBackup(at path: String) async throws(StoreError) {
        do {
            try await reading(path) { try check($0, path: path) }
        } catch {
            throw StoreError(error, path: path, action: "checked")
        }
    }

    /// Replaces an unused store: copies the backup beside it, renames the store, and gives its name to the copy. If the
    /// process is killed in between, the store still exists, or the next start reports that the restore must be
    /// repeated.
    ///
    /// - Parameter willDo: called before each step with its number, from 0.
    /// - Returns: new path of the replaced store; nil if there was none.
    /// - Throws: `locked` while a program uses the store; `damaged` for an incomplete backup.
    package static func restore(
        from backup: String, to path: String, willDo: (Int) throws -> Void = { _ in }
    ) throws(StoreError) -> String? {
        let lock = try StoreLock(storePath: path)
        defer { lock.release() }
        let copy = restoredPath(path)
        do {
            try willDo(0)
            try opened(backup).read { db in
                try check(db, path: backup)
                // Remove the session id, which the backup contains if it is a plain copy of a store's file.
                try StoreCopy.write(db, to: copy) { try $0.write(forgetSession) }
            }
            try willDo(1)
            // Move the write-ahead log's contents into the file. Otherwise a kill between two renames would separate
            // the store from its last writes.
            StoreCopy.writeBackLog(of: path)
            let former = isThere(path) || isThere(path + "-wal")
            let aside = former ? try DamagedFile.setAside(path, as: "replaced") : nil
            DamagedFile.clearDoubt(path)
            try willDo(2)
            try StoreCopy.place(copy, at: path)
            return aside
        } catch {
            // This only frees disk space: the next attempt would also remove the copy.
            if isThere(path) { unlink(copy) }
            throw StoreError(error, path: backup, action: "restored")
        }
    }

    static func checkRestored(_ path: String) throws(StoreError) {
        guard !isThere(path), isThere(restoredPath(path)) else { return }
        throw StoreError(.system, "a restore of \(path) was interrupted. Run meterd --restore again")
    }

    private static func restoredPath(_ path: String) -> String { path + ".restoring" }

    private static func isThere(_ path: String) -> Bool { Glibc.access(path, F_OK) == 0 }

    private static func forgetSession(_ db: Database) throws { try db.execute(sql: "UPDATE host SET session = NULL") }

    private static func check(_ db: Database, path: String) throws {
        guard try !StoreSchema.inspect(db, path: path) else {
            throw StoreError(.damaged, "\(path) is empty: no backup of this program. Use another one")
        }
        let faults = try String.fetchAll(db, sql: "PRAGMA integrity_check(3)").filter { $0 != "ok" }
        guard faults.isEmpty else {
            throw StoreError(.damaged, "\(path) is damaged (\(faults.joined(separator: "; "))). Use another one")
        }
    }

    private static func opened(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func reading(_ path: String, _ body: @escaping @Sendable (Database) throws -> Void) async throws {
        let queue = try opened(path)
        let result = await withCheckedContinuation { continuation in
            queue.asyncRead { db in continuation.resume(returning: Result { try body(db.get()) }) }
        }
        try result.get()
    }
}

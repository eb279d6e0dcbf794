package import Domain
import GRDB
import StoreKit

extension SQLiteCloudEngine {
    /// Copies the store, as of one moment, into one file, without stopping other work. Returns once the copy is on
    /// disk.
    ///
    /// - Parameter now: stored in the backup, so that a restore detects a clock that is behind.
    package func backup(to path: String, at now: WallTime) async throws(CloudStoreError) {
        let unfinished = path + ".unfinished"
        guard !FileSystem.exists(path) else {
            throw CloudStoreError(.system, "\(path) is there already; give the backup another name")
        }
        let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
            pool.asyncRead { source in
                continuation.resume(
                    returning: Result { try Self.copy(source.get(), to: unfinished) { try $0.markAsBackup(at: now) } })
            }
        }
        do {
            try result.get()
            try FileSystem.move(unfinished, to: path)
        } catch {
            throw CloudStoreError(error, path: path, action: "written")
        }
    }

    /// Copies a database, changes the copy, and waits until it is on disk.
    ///
    /// - Parameter unfinished: path of the new file; replaces the remains of an earlier attempt.
    static func copy(_ source: Database, to unfinished: String, _ change: (Database) throws -> Void) throws {
        try StoreCopy.write(source, to: unfinished) { queue in
            try CloudSchema.migrator.migrate(queue)
            try queue.write(change)
        }
    }
}

extension SQLiteCloudEngine {
    /// Checks a backup by reading the whole file.
    package static func checkBackup(at path: String) throws(CloudStoreError) {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            try DatabaseQueue(path: path, configuration: configuration).read { try CloudRestore.check($0, path: path) }
        } catch {
            throw CloudStoreError(error, path: path, action: "checked")
        }
    }
}

extension Database {
    fileprivate func markAsBackup(at now: WallTime) throws {
        try Meta.backup.write(String(now.millisecondsSince1970), self)
    }
}

package import Domain
import GRDB
import StoreKit

extension SQLiteCloudEngine {
    /// Copies the store, as it is at one moment, into one file, while everything continues. On the disk when this
    /// returns.
    ///
    /// - Parameters:
    ///   - path: of a file that does not exist yet.
    ///   - now: stored in the backup, so that a restore detects a clock that is behind.
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

    /// Copies a database into a new file, changes the copy, and waits until the disk has it.
    ///
    /// - Parameter unfinished: the new file; what an earlier attempt left there is removed.
    static func copy(_ source: Database, to unfinished: String, _ change: (Database) throws -> Void) throws {
        try StoreCopy.write(source, to: unfinished) { queue in
            try CloudSchema.migrator.migrate(queue)
            try queue.write(change)
        }
    }
}

extension SQLiteCloudEngine {
    /// Throws unless the file can be restored: reads all of it.
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

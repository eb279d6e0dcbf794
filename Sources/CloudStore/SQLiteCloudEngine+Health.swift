package import Cloud
import GRDB
import Glibc

extension SQLiteCloudEngine {
    /// Checks the store. Without `writes`, examines the file on disk under the write lock: open handles cache contents
    /// that the file may have lost.
    package func probe(writes: Bool) async throws(CloudFailure) {
        guard writes else {
            let path = path
            try await writer.write { _ in try Self.readAnew(path) }
            return
        }
        // A large row, because a full file may still have room for a small one.
        try await writer.write { batch in try Meta.probe.write(String(repeating: "-", count: 1 << 16), batch.db) }
        try await writer.write { batch in try Meta.probe.remove(batch.db) }
    }

    private static func readAnew(_ path: String) throws {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: String(cString: strerror(errno)))
        }
        // SQLite discards the log of an empty file, and with it all remaining data.
        guard facts.st_size > 0 else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file is empty, which it was not before")
        }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(2)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let epoch = try queue.inDatabase { db in try Meta.epoch.read(db) }
        try queue.close()
        guard epoch != nil else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file has lost what it held")
        }
    }
}

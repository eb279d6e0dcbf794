package import GRDB
import Glibc
import LinuxIO

/// Copies of a store in one file that only this user can read.
package enum StoreCopy {
    /// Suffixes of the files that SQLite may keep beside a database.
    package static let companions = ["-wal", "-shm", "-journal"]

    /// Number of database pages copied in one step, about 2 MB. The copy can be stopped between steps.
    private static let pagesPerStep: CInt = 4096

    /// Copies a snapshot of a database, and waits until the copy is on the disk. Does not block writers in WAL mode.
    ///
    /// - Parameters:
    ///   - source: database within a read transaction.
    ///   - path: path of the new file; remains of an earlier attempt are removed.
    ///   - isStopped: called between steps; true ends the copy with SQLite's "interrupted".
    ///   - finish: changes the copy before it is closed.
    package static func write(
        _ source: Database, to path: String, isStopped: @escaping () -> Bool = { false },
        finish: (DatabaseQueue) throws -> Void
    ) throws {
        for suffix in [""] + companions where unlink(path + suffix) != 0 && errno != ENOENT { throw Errno.last }
        // Create the file first: SQLite would create it with the mode of the umask.
        FileDescriptor(owning: try Errno.check { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }).close()
        let queue = try DatabaseQueue(path: path)
        // The first read begins the snapshot that all steps copy.
        _ = try Int.fetchOne(source, sql: "SELECT count(*) FROM sqlite_schema")
        try queue.writeWithoutTransaction { copy in
            try source.backup(to: copy, pagesPerStep: pagesPerStep) { _ in
                if isStopped() { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
            }
            // Switch off the write-ahead log, so that the copy is a single file.
            guard try String.fetchOne(copy, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the copy keeps a log")
            }
        }
        try finish(queue)
        try queue.close()
        try WholeFile.sync(path)
    }

    /// Writes a closed store's write-ahead log into its file, so that a rename moves all data together. Skips a damaged
    /// file, and an empty one, whose log SQLite would delete.
    package static func writeBackLog(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0, let queue = try? DatabaseQueue(path: path) else { return }
        _ = try? queue.writeWithoutTransaction { try Row.fetchOne($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try? queue.close()
    }

    /// Renames a copy to its final path, and waits until the rename is on the disk.
    package static func place(_ copy: String, at path: String) throws {
        try Errno.check { rename(copy, path) }
        try WholeFile.sync(path.parentFolder)
    }
}

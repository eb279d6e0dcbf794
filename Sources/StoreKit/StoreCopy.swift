package import GRDB
import Glibc
import LinuxIO

/// Copies of a store in one file, which only this user can read.
package enum StoreCopy {
    /// The files that SQLite may keep beside a database.
    package static let companions = ["-wal", "-shm", "-journal"]

    /// About 2 MB at a time, after which it may be stopped.
    private static let pagesPerStep: CInt = 4096

    /// Copies a database, as it is at one moment, and waits until the disk has the copy. Nobody waits for it: in WAL mode
    /// a connection of its own reads while others write.
    ///
    /// - Parameters:
    ///   - source: within a read transaction.
    ///   - path: of the new file; what an earlier attempt left there is removed.
    ///   - isStopped: asked between steps; ends the copy with SQLite's "interrupted".
    ///   - finish: changes the copy.
    package static func write(
        _ source: Database, to path: String, isStopped: @escaping () -> Bool = { false },
        finish: (DatabaseQueue) throws -> Void
    ) throws {
        for suffix in [""] + companions where unlink(path + suffix) != 0 && errno != ENOENT { throw Errno.last }
        // SQLite would make it as the umask has it.
        FileDescriptor(owning: try Errno.check { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }).close()
        let queue = try DatabaseQueue(path: path)
        // The first reading begins the snapshot, which lasts over all steps.
        _ = try Int.fetchOne(source, sql: "SELECT count(*) FROM sqlite_schema")
        try queue.writeWithoutTransaction { copy in
            try source.backup(to: copy, pagesPerStep: pagesPerStep) { _ in
                if isStopped() { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
            }
            // A single file that can be carried about, without a log beside it.
            guard try String.fetchOne(copy, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the copy keeps a log")
            }
        }
        try finish(queue)
        try queue.close()
        try WholeFile.sync(path)
    }

    /// Makes the one file of a closed store complete, so that a rename moves all of it at once. A damaged one keeps its log
    /// beside it, and so does an empty one, whose log SQLite would delete.
    package static func writeBackLog(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0, let queue = try? DatabaseQueue(path: path) else { return }
        _ = try? queue.writeWithoutTransaction { try Row.fetchOne($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try? queue.close()
    }

    /// Gives a copy its name, and waits until the disk has that.
    package static func place(_ copy: String, at path: String) throws {
        try Errno.check { rename(copy, path) }
        try WholeFile.sync(path.parentFolder)
    }
}

import Foundation
import Glibc
import LinuxIO
import StoreKit

/// File operations that change a name only once the contents are on disk.
enum FileSystem {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns the file's size in bytes; nil if the file does not exist.
    static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Does nothing if the file is missing.
    static func remove(_ path: String) throws(CloudStoreError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw failure("removed", path)
    }

    static func sync(_ path: String) throws(CloudStoreError) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw failure("opened", path) }
        defer { close(opened) }
        guard fsync(opened) == 0 else { throw failure("written to the disk", path) }
    }

    /// Renames a file without replacing another, and waits until the new name is on disk.
    static func move(_ old: String, to new: String) throws(CloudStoreError) {
        guard !exists(new) else { throw CloudStoreError(.system, "\(new) is there already; move it away") }
        guard rename(old, new) == 0 else { throw failure("renamed to \(new)", old) }
        try sync(URL(filePath: new).deletingLastPathComponent().path)
    }

    private static func failure(_ action: String, _ path: String) -> CloudStoreError {
        let reason = Errno.last
        return CloudStoreError(path: path, action: action, reason.code, text: reason.words)
    }
}

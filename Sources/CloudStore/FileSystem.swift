import Foundation
import Glibc
import LinuxIO
import StoreKit

/// Files whose names change only once the disk has their contents.
enum FileSystem {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Size in bytes, if the file exists.
    static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Removing a missing file is not an error.
    static func remove(_ path: String) throws(CloudStoreError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw failure("removed", path)
    }

    /// Waits until the disk has a file, or a folder's names.
    static func sync(_ path: String) throws(CloudStoreError) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw failure("opened", path) }
        defer { close(opened) }
        guard fsync(opened) == 0 else { throw failure("written to the disk", path) }
    }

    /// Gives a file its name, without replacing anything, and waits until the disk has it.
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

import Glibc
import LinuxIO

/// Keeps a second process from using the same data directory: a lock on the file `cloud.lock` in it.
struct DirectoryLock: Sendable {
    private let file: LockFile

    /// Creates the directory if missing, for its owner alone: it holds the tokens' digests.
    init(_ directory: String) throws(CloudStoreError) {
        if mkdir(directory, 0o700) != 0, errno != EEXIST { throw Self.openError(Errno(errno), path: directory) }
        let path = directory + "/cloud.lock"
        do {
            file = try LockFile(path, mode: 0o600)
        } catch {
            throw Self.error(error, path: path, directory: directory)
        }
    }

    /// Releases the directory. Calling it twice is harmless.
    func release() { file.release() }

    private static func error(_ refusal: LockFile.Refusal, path: String, directory: String) -> CloudStoreError {
        switch refusal {
        case .held(let owner):
            let holder = owner.map { "process \($0)" } ?? "another process"
            return CloudStoreError(
                .locked,
                "the data directory \(directory) is in use by \(holder). End that one first, or give another directory")
        case .unlockable(let reason):
            return CloudStoreError(.system, "the data directory \(directory) cannot be locked: \(reason)")
        case .unopened(let reason):
            return openError(reason, path: path)
        }
    }

    private static func openError(_ reason: Errno, path: String) -> CloudStoreError {
        switch reason.code {
        case EACCES, EPERM, EROFS:
            CloudStoreError(.readOnly, "\(path) cannot be written: \(reason). Let this user write to the folder")
        case ENOSPC, EDQUOT:
            CloudStoreError(.diskFull, "\(path) cannot be written: \(reason). Make room on the disk")
        case ENOENT, ENOTDIR:
            CloudStoreError(.system, "\(path) cannot be made: \(reason). Make the folder above it first")
        default:
            CloudStoreError(.system, "\(path) cannot be opened: \(reason)")
        }
    }
}

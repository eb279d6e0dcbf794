import Gateway
import Glibc
import LinuxIO

/// Keeps a second process from opening the same store, by a lock on the file `<store>.lock`. The store itself is not
/// locked, so that other tools can read it.
struct StoreLock: Sendable {
    private let file: LockFile

    init(storePath: String) throws(StoreError) {
        let path = storePath + ".lock"
        do {
            file = try LockFile(path, mode: 0o644)
        } catch {
            throw Self.error(error, path: path, storePath: storePath)
        }
    }

    /// Lets other processes have the store. Calling it twice is harmless.
    func release() { file.release() }

    private static func error(_ refusal: LockFile.Refusal, path: String, storePath: String) -> StoreError {
        switch refusal {
        case .held(let owner):
            let holder = owner.map { "process \($0)" } ?? "another process"
            return StoreError(
                .locked,
                "the store \(storePath) is in use by \(holder). End that one first, or give another path")
        case .unlockable(let reason):
            return StoreError(.system, "the store \(storePath) cannot be locked: \(reason)")
        case .unopened(let reason):
            return openError(reason, path: path)
        }
    }

    private static func openError(_ reason: Errno, path: String) -> StoreError {
        switch reason.code {
        case EACCES, EPERM, EROFS:
            StoreError(.readOnly, "\(path) cannot be written: \(reason). Let this user write to the folder")
        case ENOSPC, EDQUOT:
            StoreError(.diskFull, "\(path) cannot be written: \(reason). Make room on the disk")
        case ENOENT, ENOTDIR:
            StoreError(.system, "\(path) cannot be made: \(reason). Make the folder first")
        default:
            StoreError(.system, "\(path) cannot be opened: \(reason)")
        }
    }
}

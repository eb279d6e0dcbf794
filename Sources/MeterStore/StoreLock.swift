import Gateway
import Glibc
import Synchronization

/// Keeps a second process from opening the same store: a lock on the file `<store>.lock`, which holds the owner's
/// process id.
///
/// The system drops the lock when the process ends, however it ends. The file stays: a lock file that is deleted can be
/// locked by two processes at once, each in its own copy. The store itself is not locked, so that other tools can look
/// at it.
final class StoreLock: Sendable {
    private let descriptor: Mutex<Int32?>

    init(storePath: String) throws(StoreError) {
        let path = storePath + ".lock"
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw Self.openError(errno, path: path) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.owner(opened)
            _ = Glibc.close(opened)
            throw Self.lockError(code, owner: owner, storePath: storePath)
        }
        descriptor = Mutex(opened)
        Self.write(owner: getpid(), to: opened)
    }

    deinit { release() }

    /// Lets others have the store. Calling it twice is harmless.
    func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            // Unlocked and not only closed: a process that another thread is just starting has copies of all our
            // descriptors until it runs its program, and each of them would keep the lock.
            _ = flock(open, LOCK_UN)
            _ = Glibc.close(open)
            descriptor = nil
        }
    }

    private static func write(owner: pid_t, to descriptor: Int32) {
        let text = Array("\(owner)\n".utf8)
        // The number is only there for the other's message; where it cannot be written, the lock holds all the same.
        _ = ftruncate(descriptor, 0)
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    private static func owner(_ descriptor: Int32) -> pid_t? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return nil }
        return pid_t(String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    private static func lockError(_ code: Int32, owner: pid_t?, storePath: String) -> StoreError {
        guard code == EWOULDBLOCK else {
            return StoreError(.system, "the store \(storePath) cannot be locked: \(String(cString: strerror(code)))")
        }
        let holder = owner.map { "process \($0)" } ?? "another process"
        return StoreError(
            .locked,
            "the store \(storePath) is in use by \(holder). End that one first, or give another path")
    }

    private static func openError(_ code: Int32, path: String) -> StoreError {
        let reason = String(cString: strerror(code))
        return switch code {
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

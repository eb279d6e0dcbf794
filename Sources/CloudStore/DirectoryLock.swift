import Glibc
import Synchronization

/// Keeps a second process from using the same data directory: a lock on the file `cloud.lock` in it, which holds the
/// owner's process id.
///
/// The system drops the lock when the process ends, however it ends. The file stays: a lock file that is deleted can be
/// locked by two processes at once, each in its own copy.
final class DirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// Makes the directory where it is not there, for its owner alone: it holds the tokens' digests.
    init(_ directory: String) throws(CloudStoreError) {
        if mkdir(directory, 0o700) != 0, errno != EEXIST { throw Self.openError(errno, path: directory) }
        let path = directory + "/cloud.lock"
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw Self.openError(errno, path: path) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.owner(opened)
            _ = Glibc.close(opened)
            throw Self.lockError(code, owner: owner, directory: directory)
        }
        descriptor = Mutex(opened)
        Self.write(owner: getpid(), to: opened)
    }

    deinit { release() }

    /// Lets others have the directory. Calling it twice is harmless.
    func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
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

    private static func lockError(_ code: Int32, owner: pid_t?, directory: String) -> CloudStoreError {
        guard code == EWOULDBLOCK else {
            return CloudStoreError(
                .system, "the data directory \(directory) cannot be locked: \(String(cString: strerror(code)))")
        }
        let holder = owner.map { "process \($0)" } ?? "another process"
        return CloudStoreError(
            .locked,
            "the data directory \(directory) is in use by \(holder). End that one first, or give another directory")
    }

    private static func openError(_ code: Int32, path: String) -> CloudStoreError {
        let reason = String(cString: strerror(code))
        return switch code {
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

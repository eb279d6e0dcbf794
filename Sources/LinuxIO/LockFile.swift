import Glibc

/// A lock file for one process at a time: flock(2), and the holder's process ID as content.
///
/// The lock ends with the process. The file is never deleted: otherwise two processes could each lock a different file.
package final class LockFile: Sendable {
    package enum Refusal: Error, Hashable, Sendable {
        /// `owner` is the process ID of the lock's holder, if the file contains it.
        case held(owner: Int32?)
        case unopened(Errno)
        case unlockable(Errno)
    }

    private let descriptor: FileDescriptor

    /// Acquires the lock, or throws immediately.
    package init(_ path: String, mode: UInt32) throws(Refusal) {
        do {
            descriptor = try FileDescriptor(opening: path, O_RDWR | O_CREAT, mode: mode)
        } catch {
            throw .unopened(error)
        }
        do {
            try Errno.check { flock(descriptor.raw, LOCK_EX | LOCK_NB) }
        } catch {
            throw error.code == EWOULDBLOCK ? .held(owner: Self.owner(descriptor.raw)) : .unlockable(error)
        }
        Self.write(owner: getpid(), to: descriptor.raw)
    }

    deinit { release() }

    package func release() {
        // Until exec, a child process that another thread is starting has copies of all descriptors, which would keep
        // the lock.
        _ = flock(descriptor.raw, LOCK_UN)
        descriptor.close()
    }

    private static func write(owner: pid_t, to descriptor: Int32) {
        let text = Array("\(owner)\n".utf8)
        // Ignore errors: the process ID is only for another process's error message.
        _ = ftruncate(descriptor, 0)
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    private static func owner(_ descriptor: Int32) -> pid_t? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return nil }
        return pid_t(String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}

import Glibc

/// A file that one process at a time can lock: a flock(2) on it, and the holder's process id in it.
///
/// The system drops the lock when the process ends, however it ends. The file stays: if it were deleted, two processes
/// could hold locks at once, each on its own copy.
package final class LockFile: Sendable {
    /// Why the file could not be locked.
    package enum Refusal: Error, Hashable, Sendable {
        /// Another process holds it.
        ///
        /// - Parameter owner: its id, if the file tells.
        case held(owner: Int32?)
        /// The file can be neither opened nor created.
        case unopened(Errno)
        /// The file system does not support locks.
        case unlockable(Errno)
    }

    private let descriptor: FileDescriptor

    /// Takes the lock, or throws at once.
    ///
    /// - Parameter mode: the mode of a file that this call creates, as for open(2).
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

    /// Releases the lock. Calling it twice is harmless.
    package func release() {
        // Unlocked, not just closed: a process that another thread is just starting has copies of all our descriptors
        // until it runs its program, and each copy would keep the lock.
        _ = flock(descriptor.raw, LOCK_UN)
        descriptor.close()
    }

    private static func write(owner: pid_t, to descriptor: Int32) {
        let text = Array("\(owner)\n".utf8)
        // The number only serves the other process's message; if it cannot be written, the lock holds all the same.
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

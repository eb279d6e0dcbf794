import Glibc
import Synchronization

/// Owns one open file and closes it once, at the latest with the last reference.
package final class FileDescriptor: Sendable {
    /// Descriptor number; -1 once closed, so that a late call fails with EBADF and never uses another file with that
    /// number.
    private let number: Atomic<Int32>

    package init(owning number: Int32) {
        self.number = Atomic(number)
    }

    /// `flags` are those of open(2); adds close-on-exec.
    package convenience init(opening path: String, _ flags: Int32, mode: UInt32 = 0) throws(Errno) {
        self.init(owning: try Errno.check { Glibc.open(path, flags | O_CLOEXEC, mode) })
    }

    deinit { close() }

    package var raw: Int32 { number.load(ordering: .relaxed) }

    package func close() {
        let open = number.exchange(-1, ordering: .relaxed)
        // No retry after EINTR: Linux has already closed the descriptor, whose number may be in use again.
        if open >= 0 { _ = Glibc.close(open) }
    }

    /// Closes the file on its own thread, because the last close may wait for a device.
    package func closeElsewhere() {
        let open = number.exchange(-1, ordering: .relaxed)
        guard open >= 0 else { return }
        BackgroundThread.run { _ = Glibc.close(open) }
    }

    /// Returns the number of bytes read; 0 at the end of the file; nil if none is available yet.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int? {
        try Errno.checkUnlessBlocked { Glibc.read(raw, buffer.baseAddress, buffer.count) }
    }

    /// Returns the number of bytes that the file accepted; nil if it accepts none yet.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int? {
        try Errno.checkUnlessBlocked { Glibc.write(raw, bytes.baseAddress, bytes.count) }
    }

    func takePendingError() throws(Errno) {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        try Errno.check { getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &size) }
        guard code == 0 else { throw Errno(code) }
    }
}

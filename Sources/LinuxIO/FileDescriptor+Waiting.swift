import Domain
import Glibc

/// Blocking waits, for a program with a spare thread. Others use an `IOLoop`.
extension FileDescriptor {
    /// Blocks until there are bytes to read, or the end is reached. Returns false after the timeout.
    ///
    /// - Parameter patience: rounded up to whole milliseconds; nil for no timeout. A signal restarts it.
    package func awaitInput(for patience: Duration?) throws(Errno) -> Bool {
        let milliseconds = patience.map { Int32(clamping: ($0 + .nanoseconds(999_999)).milliseconds) }
        return try wait(for: Int16(POLLIN), milliseconds: milliseconds.map { max(0, $0) } ?? -1)
    }

    /// Blocks until the descriptor accepts bytes, or a connect succeeds or fails. Returns false after the timeout.
    func awaitRoom(for patience: Duration) throws(Errno) -> Bool {
        try wait(for: Int16(POLLOUT), milliseconds: Int32(clamping: patience.milliseconds))
    }

    package func writeAll(_ bytes: [UInt8]) throws(Errno) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = try rest.withUnsafeBufferPointer { bytes throws(Errno) in
                try write(UnsafeRawBufferPointer(bytes))
            }
            if let taken {
                rest = rest.dropFirst(taken)
            } else {
                _ = try wait(for: Int16(POLLOUT), milliseconds: -1)
            }
        }
    }

    private func wait(for events: Int16, milliseconds: Int32) throws(Errno) -> Bool {
        var state = pollfd(fd: raw, events: events, revents: 0)
        return try Errno.check { poll(&state, 1, milliseconds) } > 0
    }
}

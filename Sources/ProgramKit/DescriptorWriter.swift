import Glibc
package import LinuxIO

package enum DescriptorWriter {
    /// Writes text. Retries after signals, and waits while a pipe is full.
    ///
    /// - Throws: the kernel's error.
    package static func write(_ text: String, to descriptor: Int32) throws(Errno) {
        try write(bytes: text.utf8, to: descriptor)
    }

    package static func write(bytes: some Sequence<UInt8>, to descriptor: Int32) throws(Errno) {
        var bytes = Array(bytes)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                bytes = bytes.dropFirst(written)
                continue
            }
            switch written == 0 ? EIO : errno {
            case EINTR: continue
            case EAGAIN: awaitRoom(in: descriptor)
            case let code: throw Errno(code)
            }
        }
    }

    /// Waits until the descriptor is writable. ssh and some shells make a shared descriptor non-blocking.
    private static func awaitRoom(in descriptor: Int32) {
        var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // Ignore errors here: the next write reports them.
        _ = poll(&state, 1, -1)
    }
}

import CLinux
import Glibc

/// A serial port in software, which connects a program that opens `path` to the holder of `master`.
///
/// The master reports EPOLLHUP until a program opens the slave, and again after the program has closed it.
package final class PseudoTerminal: Sendable {
    package let master: FileDescriptor
    package let path: String
    package let link: String?

    /// - Parameter link: stable path of the port. An older link is replaced atomically. Throws EEXIST if the path is
    ///   not a link.
    package init(link: String? = nil) throws(Errno) {
        let number = try Errno.check { cl_open_pty_master() }
        let master = FileDescriptor(owning: number)
        self.master = master
        var name = [CChar](repeating: 0, count: 64)
        let code = cl_pty_slave_name(number, &name, name.count)
        guard code == 0 else { throw Errno(code) }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The settings of a master also apply to its slave.
        try SerialLine.makeRaw(master, speed: nil)
        // A slave that was never opened counts as open, so open and close it once.
        try FileDescriptor(opening: path, O_RDWR | O_NOCTTY).close()
        self.link = link
        if let link { try Self.place(link, to: path) }
    }

    /// Whether a program has the slave open, or has closed it with bytes still unread.
    package var hasPeer: Bool {
        var state = pollfd(fd: master.raw, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, 0) >= 0 else { return false }
        return state.revents & Int16(POLLHUP) == 0 || state.revents & Int16(POLLIN) != 0
    }

    /// Closes the port. A program with an open slave sees this as an unplugged cable.
    package func close() {
        if let link, FileTree.linkTarget(link) == path {
            _ = unlink(link)
        }
        master.close()
    }

    private static func place(_ link: String, to path: String) throws(Errno) {
        if cl_exists(link) == 1, cl_is_symlink(link) == 0 { throw Errno(EEXIST) }
        let new = "\(link).\(getpid()).new"
        // Remove the leftover link of a killed process that had the same process ID.
        _ = unlink(new)
        try Errno.check { symlink(path, new) }
        do {
            try Errno.check { rename(new, link) }
        } catch {
            _ = unlink(new)
            throw error
        }
    }
}

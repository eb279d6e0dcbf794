import CLinux
import Domain
import Glibc

/// The service manager that started this program, systemd, and the messages it expects (sd_notify(3)).
///
/// The protocol is one datagram of lines `KEY=value` to a socket named in the environment.
package struct ServiceManager: Sendable {
    /// One line of a message.
    package enum Notice: Hashable, Sendable {
        /// The program is up and working.
        case ready
        case stopping
        /// The program is alive; to be sent at least once every `watchdogLimit`.
        case alive
        /// The program's state, for people: one line of `systemctl status`.
        case status(String)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=" + text.visible
            }
        }
    }

    /// How long the manager waits for `alive` before it considers the program hung. Nil if it does not watch.
    package let watchdogLimit: Duration?
    private let path: String

    /// - Parameters:
    ///   - environment: `NOTIFY_SOCKET`, a path or, after `@`, a name in the abstract space; `WATCHDOG_USEC`, and
    ///     `WATCHDOG_PID` if that applies to one process only.
    ///   - processID: this program's.
    /// - Returns: nil if nobody expects messages, or not over such a socket.
    package init?(environment: [String: String], processID: Int32 = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"], path.utf8.count > 1, Self.address(path) != nil else {
            return nil
        }
        self.path = path
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        watchdogLimit = isMeant ? limit.map { .microseconds($0) } : nil
    }

    /// The folder that the manager created for this program and named in a variable (systemd.exec(5)).
    ///
    /// - Parameter variable: `STATE_DIRECTORY` and the like.
    /// - Returns: nil if there is none, or more than one, separated by colons: those are not ours.
    package static func folder(_ variable: String, in environment: [String: String]) -> String? {
        guard let path = environment[variable], path.hasPrefix("/"), !path.contains(":") else { return nil }
        return path
    }

    /// Sends one message.
    ///
    /// - Parameter waiting: waits for a busy manager, which a program may do only at its start and its end.
    /// - Throws: EAGAIN if it is busy, and the socket's own errors.
    package func tell(_ notices: Notice..., waiting: Bool = false) throws(Errno) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let connection = FileDescriptor(owning: try Errno.check { socket(AF_UNIX, type, 0) })
        guard let (name, size) = Self.address(path) else { throw Errno(ENAMETOOLONG) }
        let message = Array(notices.map(\.line).joined(separator: "\n").utf8)
        let flags = Int32(MSG_NOSIGNAL) | (waiting ? 0 : Int32(MSG_DONTWAIT))
        _ = try Errno.check {
            withUnsafePointer(to: name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    message.withUnsafeBytes {
                        sendto(connection.raw, $0.baseAddress, $0.count, flags, address, size)
                    }
                }
            }
        }
    }

    /// In the kernel's form: an abstract name begins with a zero byte and ends only by its length.
    private static func address(_ path: String) -> (sockaddr_un, socklen_t)? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard let first = bytes.first, !bytes.contains(0) else { return nil }
        let room = MemoryLayout.size(ofValue: address.sun_path)
        switch first {
        case UInt8(ascii: "@"): bytes[0] = 0
        case UInt8(ascii: "/"): bytes.append(0)
        default: return nil
        }
        guard bytes.count <= room else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return (address, socklen_t(MemoryLayout<sockaddr_un>.size - room + bytes.count))
    }
}

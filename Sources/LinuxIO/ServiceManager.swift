import CLinux
import Domain
import Glibc

/// Messages to systemd (sd_notify(3)): a datagram of lines `KEY=value` to a socket named in the environment.
package struct ServiceManager: Sendable {
    package enum Notice: Hashable, Sendable {
        case ready
        case stopping
        /// Watchdog keep-alive, due at least once every `watchdogLimit`.
        case alive
        /// One line of `systemctl status`.
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

    /// Time without `alive` after which systemd considers the program hung; nil without a watchdog.
    package let watchdogLimit: Duration?
    private let path: String

    /// Nil if no service manager expects messages, or its socket is of another kind.
    ///
    /// - Parameter environment: `NOTIFY_SOCKET`, a path or, after `@`, a name in the abstract space; `WATCHDOG_USEC`,
    ///   and `WATCHDOG_PID` if that applies to one process only.
    package init?(environment: [String: String], processID: Int32 = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"], path.utf8.count > 1, Self.address(path) != nil else {
            return nil
        }
        self.path = path
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        watchdogLimit = isMeant ? limit.map { .microseconds($0) } : nil
    }

    /// Returns the folder that systemd created for this program (systemd.exec(5)). Nil if the variable is missing or
    /// lists several folders.
    ///
    /// - Parameter variable: `STATE_DIRECTORY` or a similar variable.
    package static func folder(_ variable: String, in environment: [String: String]) -> String? {
        guard let path = environment[variable], path.hasPrefix("/"), !path.contains(":") else { return nil }
        return path
    }

    /// - Parameter waiting: whether to wait for a busy manager. Allowed only at the program's start and end.
    /// - Throws: EAGAIN if the manager is busy, and the socket's own errors.
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

    /// Returns a socket's address. An abstract name begins with a zero byte, and ends at the address's length.
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

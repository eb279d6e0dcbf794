import CLinux
import Domain
import Glibc

/// The service manager systemd and its messages (sd_notify(3)): a datagram of lines `KEY=value` to a socket named in
/// the environment.
package struct ServiceManager: Sendable {
    package enum Notice: Hashable, Sendable {
        case ready
        case stopping
        /// The program is running. Must be sent at least once every `watchdogLimit`.
        case alive
        /// Human-readable state: one line of `systemctl status`.
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

    /// Time without `alive` after which systemd considers the program hung. Nil without a watchdog.
    package let watchdogLimit: Duration?
    private let path: String

    /// Creates a connection to the service manager; nil if no manager expects messages, or if its socket is of another
    /// kind.
    ///
    /// - Parameters:
    ///   - environment: `NOTIFY_SOCKET`, a path or, after `@`, a name in the abstract space; `WATCHDOG_USEC`, and
    ///     `WATCHDOG_PID` if that applies to one process only.
    ///   - processID: ID of this process.
    package init?(environment: [String: String], processID: Int32 = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"], path.utf8.count > 1, Self.address(path) != nil else {
            return nil
        }
        self.path = path
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        watchdogLimit = isMeant ? limit.map { .microseconds($0) } : nil
    }

    /// Returns the folder that systemd created for this program and named in a variable (systemd.exec(5)).
    ///
    /// - Parameter variable: `STATE_DIRECTORY` or a similar variable.
    /// - Returns: nil if the variable is missing or lists several folders separated by colons, which this project's
    ///   units do not set.
    package static func folder(_ variable: String, in environment: [String: String]) -> String? {
        guard let path = environment[variable], path.hasPrefix("/"), !path.contains(":") else { return nil }
        return path
    }

    /// Sends one message.
    ///
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

    /// Returns the path as a socket address. An abstract name begins with a zero byte, and the length marks its end.
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

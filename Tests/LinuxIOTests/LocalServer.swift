import Domain
import Glibc
import LinuxIO
import MeterTestKit

/// A server on this machine that lets a test decide whether it answers.
final class LocalServer: Sendable {
    private let listener: FileDescriptor
    private let port: in_port_t

    /// - Parameter backlog: 0: one connection that is not accepted makes it deaf to others (see `fill`).
    init(backlog: Int32) throws {
        let number = try Errno.check { socket(AF_INET, Self.streamFlags, 0) }
        listener = FileDescriptor(owning: number)
        try Self.withAddress(port: 0) { pointer, size in _ = try Errno.check { bind(number, pointer, size) } }
        try Errno.check { listen(number, backlog) }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = try Errno.check { getsockname(number, pointer, &size) }
            }
        }
        port = address.sin_port
    }

    private static let streamFlags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    /// The port.
    var number: Int { Int(in_port_t(bigEndian: port)) }

    func close() { listener.close() }

    func accept() throws -> FileDescriptor {
        let number = try Errno.check { Glibc.accept(listener.raw, nil, nil) }
        try Errno.check { fcntl(number, F_SETFL, O_NONBLOCK) }
        return FileDescriptor(owning: number)
    }

    /// A socket that does not block, on its way to the server.
    func beginConnect() throws(ChannelFailure) -> FileDescriptor {
        do {
            let number = try Errno.check { socket(AF_INET, Self.streamFlags | O_NONBLOCK, 0) }
            let descriptor = FileDescriptor(owning: number)
            do {
                try Self.withAddress(port: port) { pointer, size in
                    _ = try Errno.check { connect(number, pointer, size) }
                }
            } catch let error as Errno where error.code == EINPROGRESS {
                // Under way.
            }
            return descriptor
        } catch {
            throw ChannelFailure(.system, "\(error)")
        }
    }

    /// Makes a server without backlog deaf: who connects now gets no answer. To be closed by the caller.
    func fill() throws -> [FileDescriptor] { try (0..<4).map { _ in try beginConnect() } }

    private static func withAddress(port: in_port_t, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void) throws
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

extension SocketLink {
    convenience init(connectingTo server: LocalServer, limit: Duration = .seconds(3600)) {
        self.init { () throws(ChannelFailure) in (try server.beginConnect(), limit) }
    }
}

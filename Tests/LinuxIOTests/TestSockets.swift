import Gateway
import Glibc
import LinuxIO
import MeterTestKit

/// Two ends of one socket; the second never blocks.
///
/// - Parameter writesBlock: a write to the first waits, as one to a raw HID device does, whatever it was told.
func socketPair(_ type: __socket_type, writesBlock: Bool = false) throws -> (FileDescriptor, FileDescriptor) {
    var numbers: [Int32] = [-1, -1]
    try Errno.check { socketpair(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &numbers) }
    let ends = (FileDescriptor(owning: numbers[0]), FileDescriptor(owning: numbers[1]))
    if writesBlock {
        // Reads do not wait, or not for long.
        var limit = timeval(tv_sec: 0, tv_usec: 1)
        let size = socklen_t(MemoryLayout<timeval>.size)
        try Errno.check { setsockopt(numbers[0], SOL_SOCKET, SO_RCVTIMEO, &limit, size) }
    } else {
        try Errno.check { fcntl(numbers[0], F_SETFL, O_NONBLOCK) }
    }
    try Errno.check { fcntl(numbers[1], F_SETFL, O_NONBLOCK) }
    return ends
}

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

extension FileDescriptor {
    /// Reads packets as they come, until there are so many.
    func nextPackets(_ count: Int, on loop: IOLoop) async throws -> [[UInt8]] {
        let (packets, report) = AsyncStream.makeStream(of: [UInt8].self)
        try await loop.perform {
            try loop.register(self, .readable) { _ in
                var bytes = [UInt8](repeating: 0, count: 1000)
                do {
                    guard let read = try bytes.withUnsafeMutableBytes({ try self.read(into: $0) }) else { return }
                    report.yield(Array(bytes.prefix(read)))
                } catch {
                    // Ends the stream, and the test with too few packets.
                    loop.unregister(self)
                    report.finish()
                }
            }
        }
        var all: [[UInt8]] = []
        for await packet in packets {
            all.append(packet)
            if all.count >= count { break }
        }
        try await loop.perform { loop.unregister(self) }
        return all
    }
}

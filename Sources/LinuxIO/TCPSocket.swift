import Domain
import Glibc

package enum TCPSocket {
    /// Connects to the first address that accepts. Blocks: call it on a spare thread.
    ///
    /// - Parameter limit: timeout for each address.
    package static func connect(to host: String, port: Int, limit: Duration) throws(Failure) -> FileDescriptor {
        var last = Errno(EADDRNOTAVAIL)
        let addresses = try addresses(of: host, port: port, flags: 0)
        defer { freeaddrinfo(addresses) }
        var next: UnsafeMutablePointer<addrinfo>? = addresses
        while let target = next?.pointee {
            next = target.ai_next
            do throws(Errno) {
                return try connect(to: target, limit: limit)
            } catch {
                last = error
            }
        }
        throw .connecting(last)
    }

    /// Listens at a numeric address. Queries no name server.
    package static func listen(at host: String, port: Int) throws(Failure) -> FileDescriptor {
        let addresses = try addresses(of: host, port: port, flags: AI_PASSIVE | AI_NUMERICHOST)
        defer { freeaddrinfo(addresses) }
        do throws(Errno) {
            let target = addresses.pointee
            let socket = try open(target)
            var on: Int32 = 1
            try Errno.check {
                setsockopt(socket.raw, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            }
            try Errno.check { bind(socket.raw, target.ai_addr, target.ai_addrlen) }
            try Errno.check { Glibc.listen(socket.raw, 16) }
            return socket
        } catch {
            throw .connecting(error)
        }
    }

    package static func accept(from listener: FileDescriptor) throws(Errno) -> FileDescriptor? {
        guard let number = try Errno.checkUnlessBlocked({ Glibc.accept(listener.raw, nil, nil) }) else { return nil }
        let socket = FileDescriptor(owning: number)
        try Errno.check { fcntl(number, F_SETFD, FD_CLOEXEC) }
        try Errno.check { fcntl(number, F_SETFL, O_NONBLOCK) }
        try sendAtOnce(socket)
        return socket
    }

    package static func port(of socket: FileDescriptor) -> Int? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.raw, $0, &length) == 0 }
        }
        guard isKnown else { return nil }
        return withUnsafeBytes(of: &address) { Int($0[2]) << 8 | Int($0[3]) }
    }

    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case resolving(String)
        case connecting(Errno)

        package var description: String {
            switch self {
            case .resolving(let words): words
            case .connecting(let error): error.words
            }
        }
    }

    private static func addresses(
        of host: String, port: Int, flags: Int32
    ) throws(Failure) -> UnsafeMutablePointer<addrinfo> {
        var hints = addrinfo()
        hints.ai_flags = flags | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &list)
        guard code == 0, let list else { throw .resolving(String(cString: gai_strerror(code))) }
        return list
    }

    private static func open(_ target: addrinfo) throws(Errno) -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        return FileDescriptor(owning: try Errno.check { socket(target.ai_family, type, target.ai_protocol) })
    }

    private static func connect(to target: addrinfo, limit: Duration) throws(Errno) -> FileDescriptor {
        let socket = try open(target)
        do throws(Errno) {
            try Errno.check { Glibc.connect(socket.raw, target.ai_addr, target.ai_addrlen) }
        } catch {
            guard error.code == EINPROGRESS else { throw error }
            guard try socket.awaitRoom(for: limit) else { throw Errno.timedOut }
            try socket.takePendingError()
        }
        try sendAtOnce(socket)
        return socket
    }

    private static func sendAtOnce(_ socket: FileDescriptor) throws(Errno) {
        var on: Int32 = 1
        try Errno.check {
            setsockopt(socket.raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}

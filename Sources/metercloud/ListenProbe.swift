import Glibc
import LinuxIO

/// Tries to listen at an address before the server starts, so that a port in use is reported in one line.
enum ListenProbe {
    enum Obstacle: Hashable {
        case unknownHost(String)
        case refused(Errno)
    }

    /// Returns nil if listening at the address is possible.
    static func look(at address: ServeAddress) -> Obstacle? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(address.host, "\(address.port)", &hints, &first)
        guard code == 0, let found = first else { return .unknownHost(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(first) }
        let type = found.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(found.pointee.ai_family, type, found.pointee.ai_protocol)
        guard descriptor >= 0 else { return .refused(Errno(errno)) }
        defer { close(descriptor) }
        var yes: Int32 = 1
        // Allow address reuse, as the server does. Otherwise old connections of an earlier server would block the
        // address.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0, listen(descriptor, 1) == 0
        else { return .refused(Errno(errno)) }
        return nil
    }
}

import CLinux
import Glibc

/// Distinguishes a socket in use from a socket file that a killed program left behind.
package enum SocketProbe {
    package enum Finding: Hashable, Sendable {
        case free
        case served
        case noSocket
        /// The path exceeds the `limit` bytes of a socket address.
        case tooLong(limit: Int)
    }

    package static func look(at path: String) -> Finding {
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard path.utf8.count <= limit else { return .tooLong(limit: limit) }
        if cl_exists(path) == 1, !isSocket(path) { return .noSocket }
        return answers(path) ? .served : .free
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func answers(_ path: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}

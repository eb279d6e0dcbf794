import Foundation
import Glibc
import LinuxIO

/// Socket of a simulated service manager, on which a test receives a service's reports.
package final class NotifySocket: Sendable {
    package enum Kind: CaseIterable, Sendable {
        case path
        case abstract
    }

    /// Value for the variable `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
    package let name: String
    private let descriptor: FileDescriptor
    private let folder: URL?

    package init(_ kind: Kind) throws {
        let unique = "meter-gateway-\(UUID().uuidString.prefix(8))"
        let folder = FileManager.default.temporaryDirectory.appending(path: unique)
        if kind == .path { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        self.folder = kind == .path ? folder : nil
        name = kind == .path ? "\(folder.path)/notify" : "@\(unique)"
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = FileDescriptor(owning: try Errno.check { socket(AF_UNIX, type, 0) })
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if kind == .abstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // The address length includes a path's final zero byte; an abstract name has no such byte.
        let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (kind == .path ? 1 : 0))
        let number = descriptor.raw
        try Errno.check {
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, size) }
            }
        }
    }

    deinit {
        // Ignore errors: a leftover in the temporary folder is harmless.
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    package func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}

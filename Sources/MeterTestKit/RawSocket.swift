import Glibc

/// A test's TCP connection to the server. It reads only on request, never ahead.
package final class RawSocket {
    package struct Failure: Error {
        package var code: Int32
    }

    private let descriptor: Int32

    /// - Parameter receiveBuffer: approximate number of unread bytes that the system may buffer; nil for its default.
    package init(port: Int, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(code: errno) }
    }

    deinit { close(descriptor) }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(code: errno)
        }
    }

    package func receive(until text: String) async throws -> String {
        var all = ""
        while !all.contains(text) {
            guard let bytes = try await receive(), !bytes.isEmpty else { throw Failure(code: 0) }
            all += String(decoding: bytes, as: UTF8.self)
        }
        return all
    }

    /// Receives until the server closes the connection.
    package func receiveAll() async throws -> String {
        var all: [UInt8] = []
        while let bytes = try await receive(), !bytes.isEmpty { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Receives until the server closes or resets the connection. Returns the number of bytes.
    package func drain() async -> Int {
        var total = 0
        while let bytes = try? await receive(), !bytes.isEmpty { total += bytes.count }
        return total
    }

    /// Receives the next bytes; an empty array, never nil, if the server has closed the connection. Blocks no thread,
    /// because the server needs them.
    private func receive() async throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let patience = Patience("the other side sends something, or closes")
        while true {
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count >= 0 { return Array(bytes.prefix(count)) }
            guard errno == EAGAIN || errno == EINTR else { throw Failure(code: errno) }
            try await patience.turn()
        }
    }
}

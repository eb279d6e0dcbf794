import Glibc
import LinuxIO
import MeterTestKit
import Synchronization

/// The other end of one TCP connection, which plays a script on a thread of its own.
final class PacketPeer: Sendable {
    /// The connection as the script has it.
    struct Connection {
        let descriptor: FileDescriptor
        let heard: AsyncStream<Void>.Continuation

        /// A packet of MQTT with its header; empty at the end.
        func packet() -> [UInt8] {
            var header = bytes(1)
            guard !header.isEmpty else { return [] }
            var length = 0
            var shift = 0
            repeat {
                let next = bytes(1)
                guard let byte = next.first else { return [] }
                header += next
                length |= Int(byte & 0x7F) << shift
                shift += 7
            } while header.last.map { $0 & 0x80 != 0 } == true && shift < 28
            defer { heard.yield() }
            // A length of one byte more or less is nothing that a script looks at.
            return Array(header.prefix(1)) + [UInt8(truncatingIfNeeded: length)] + bytes(length)
        }

        func write(_ bytes: [UInt8]) {
            // Whoever went away meanwhile has heard enough.
            try? descriptor.writeAll(bytes)
        }

        private func bytes(_ count: Int) -> [UInt8] {
            var all: [UInt8] = []
            while all.count < count {
                var buffer = [UInt8](repeating: 0, count: count - all.count)
                let read = recv(descriptor.raw, &buffer, buffer.count, 0)
                guard read > 0 else { return [] }
                all += buffer.prefix(read)
            }
            return all
        }
    }

    let port: UInt16
    private let listener: FileDescriptor
    private let results: AsyncStream<[UInt8]>
    private let heard: AsyncStream<Void>

    init(_ script: @escaping @Sendable (Connection) -> [UInt8]) throws {
        let number = try Errno.check { socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0) }
        let listener = FileDescriptor(owning: number)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try Errno.check { bind(number, address, size) }
                try Errno.check { listen(number, 1) }
                try Errno.check { getsockname(number, address, &size) }
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        let (results, finish) = AsyncStream.makeStream(of: [UInt8].self)
        let (heard, hear) = AsyncStream.makeStream(of: Void.self)
        (self.results, self.heard) = (results, heard)
        BackgroundThread.run {
            defer { finish.finish() }
            guard let number = try? Errno.check({ accept(listener.raw, nil, nil) }) else { return }
            // Nobody else is served.
            listener.close()
            let connection = FileDescriptor(owning: number)
            finish.yield(script(Connection(descriptor: connection, heard: hear)))
        }
    }

    deinit {
        // Closing alone leaves accept waiting.
        shutdown(listener.raw, Int32(SHUT_RDWR))
    }

    /// What the script returned.
    var outcome: [UInt8] {
        get async {
            for await result in results { return result }
            return []
        }
    }

    /// Returns once the script has read a packet.
    func hasHeard() async {
        for await _ in heard { return }
    }

    /// The port, where nobody listens any more.
    func closedPort() -> UInt16 {
        shutdown(listener.raw, Int32(SHUT_RDWR))
        listener.close()
        return port
    }
}

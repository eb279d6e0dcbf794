import Glibc

/// Queries the kernel for one TCP socket: sock_diag(7), with the structures of `linux/inet_diag.h`.
///
/// Unlike with `/proc/net/tcp`, the cost is independent of the number of sockets. The kernel may find a listening
/// socket (`inet_diag_find_one_icsk` in its net/ipv4/inet_diag.c), so `decode` compares both ends and the state.
package enum SocketDiagnosis {
    package enum Answer: Hashable, Sendable {
        /// Nil if the socket is closed, half closed, or not the requested one.
        case known(LocalPeer.Socket?)
        case unknown
    }

    static func ask(for client: LocalPeer.End, to server: LocalPeer.End) -> Answer {
        guard let request = request(for: client, to: server) else { return .unknown }
        // NETLINK_SOCK_DIAG is 4.
        let number = Glibc.socket(
            AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 4)
        guard number >= 0 else { return .unknown }
        let socket = FileDescriptor(owning: number)
        defer { socket.close() }
        var answer = [UInt8](repeating: 0, count: 1024)
        guard send(socket.raw, request, request.count, 0) == request.count else { return .unknown }
        let count = recv(socket.raw, &answer, answer.count, 0)
        guard count > 0 else { return .unknown }
        return decode(Array(answer.prefix(count)), client: client, server: server)
    }

    /// Returns the request: the header of netlink(7) and `struct inet_diag_req_v2`.
    package static func request(for client: LocalPeer.End, to server: LocalPeer.End) -> [UInt8]? {
        guard let source = client.plain, let destination = server.plain, source.count == destination.count,
            let sourcePort = UInt16(exactly: client.port), let destinationPort = UInt16(exactly: server.port)
        else { return nil }
        var bytes = word(72) + half(Self.byFamily) + half(1) + word(1) + word(0)
        // Family, protocol (TCP is 6), no extensions, every state.
        bytes += [UInt8(source.count == 4 ? AF_INET : AF_INET6), 6, 0, 0] + word(.max)
        bytes += network(sourcePort) + network(destinationPort)
        for address in [source, destination] { bytes += address + [UInt8](repeating: 0, count: 16 - address.count) }
        // Any interface, and INET_DIAG_NOCOOKIE.
        return bytes + word(0) + word(.max) + word(.max)
    }

    /// Decodes `struct inet_diag_msg`. Never traps.
    package static func decode(_ bytes: [UInt8], client: LocalPeer.End, server: LocalPeer.End) -> Answer {
        bytes.withUnsafeBytes { raw in
            guard raw.count >= 16 + 72, raw.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == Self.byFamily else {
                return .unknown
            }
            let message = UnsafeRawBufferPointer(rebasing: raw[16...])
            let inode = message.loadUnaligned(fromByteOffset: 68, as: UInt32.self)
            // TCP_ESTABLISHED is 1 (net/tcp_states.h).
            guard message[1] == 1, inode != 0, end(in: message, port: 4, address: 8) == normal(client),
                end(in: message, port: 6, address: 24) == normal(server)
            else { return .known(nil) }
            return .known(.init(user: message.loadUnaligned(fromByteOffset: 64, as: UInt32.self), inode: inode))
        }
    }

    /// Message type SOCK_DIAG_BY_FAMILY.
    private static let byFamily: UInt16 = 20

    private static func end(in message: UnsafeRawBufferPointer, port: Int, address: Int) -> LocalPeer.End {
        let count = message[0] == UInt8(AF_INET) ? 4 : 16
        return normal(
            .init(
                address: Array(message[address..<(address + count)]),
                port: Int(UInt16(bigEndian: message.loadUnaligned(fromByteOffset: port, as: UInt16.self)))))
    }

    private static func normal(_ end: LocalPeer.End) -> LocalPeer.End {
        .init(address: end.plain ?? [], port: end.port)
    }

    private static func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
    private static func half(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
    private static func network(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
}

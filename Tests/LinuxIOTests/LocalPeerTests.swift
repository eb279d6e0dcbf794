import Glibc
import LinuxIO
import Testing

struct LocalPeerTests {
    /// Two lines as the kernel writes them: a listener, and a client on 127.0.0.1:50180 at 127.0.0.1:8642.
    private let table = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:21C2 00000000:0000 0A 00000000:00000000 00:00000000 00000000   999        0 1 1 0 100 0 0 10 0
           1: 0100007F:C404 0100007F:21C2 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1
        """
    private let client = LocalPeer.End(address: [127, 0, 0, 1], port: 50180)
    private let server = LocalPeer.End(address: [127, 0, 0, 1], port: 8642)

    private func user(in table: String, addressBytes: Int = 4) -> UInt32? {
        LocalPeer.socket(of: client, to: server, in: table, addressBytes: addressBytes)?.user
    }

    @Test func clientsUser_isFound_byBothEnds() {
        #expect(
            LocalPeer.socket(of: client, to: server, in: table, addressBytes: 4) == .init(user: 1000, inode: 2))
    }

    @Test func otherEnds_areNobodys() {
        let other = LocalPeer.End(address: [127, 0, 0, 1], port: 50181)
        for (from, to) in [(other, server), (server, client), (client, other)] {
            #expect(LocalPeer.socket(of: from, to: to, in: table, addressBytes: 4) == nil)
        }
    }

    @Test func clientOnASocketForBothKinds_isFound() {
        let table = """
            0: 0000000000000000FFFF00000100007F:C404 0000000000000000FFFF00000100007F:21C2 01 0:0 0:0 0 33 0 2
            """
        #expect(user(in: table, addressBytes: 16) == 33)
    }

    /// FIN_WAIT1, FIN_WAIT2, TIME_WAIT, CLOSE_WAIT, SYN_SENT.
    @Test(arguments: ["04", "05", "06", "08", "02"])
    func connectionThatIsNotOpenBothWays_isNobodys(state: String) {
        #expect(user(in: table.replacing(" 01 ", with: " \(state) ")) == nil)
    }

    @Test func socketThatNoProgramHolds_isNobodys_thoughItIsListedAsRoots() {
        let line = " 1: 0100007F:C404 0100007F:21C2 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0"
        #expect(user(in: line) == nil)
    }

    @Test(arguments: ["", "\n\n", "0: 1 2", "1: 0100007F:C404 0100007F:21C2 01 0 0 0 x 0"])
    func whatIsNoTable_hasNobody(table: String) { #expect(user(in: table) == nil) }

    @Test func groups_areTheSystems() throws {
        #expect(UserGroups.isMember(0, of: 0))
        #expect(!UserGroups.isMember(4_000_000_000, of: 0))
        #expect(UserGroups.group(ofFile: "/nonexistent") == nil)
        #expect(UserGroups.group(ofFile: "/etc/passwd") == 0)
    }

    // MARK: - The kernel's own answers

    /// An IPv4 connection, an IPv6 one, and an IPv4 one of sockets for both kinds.
    @Test(arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"].filter { (try? Connection(to: $0)) != nil })
    func openConnection_isItsUsers_andAClosedOneNobodys(address: String) throws {
        let connection = try Connection(to: address)
        let open = try #require(connection.peer)
        #expect(open.user == geteuid())
        #expect(open.inode == connection.clientInode)
        connection.client.close()
        #expect(connection.peer == nil)
        connection.served.close()
        #expect(connection.peer == nil)
    }

    @Test func connectionThatItsClientClosedForSending_isNobodys() throws {
        let connection = try Connection(to: "127.0.0.1")
        #expect(shutdown(connection.client.raw, Int32(SHUT_WR)) == 0)
        #expect(connection.peer == nil)
    }

    @Test func connectionThatTheServerClosed_isNobodys() throws {
        let connection = try Connection(to: "127.0.0.1")
        connection.served.close()
        #expect(connection.peer == nil)
    }

    /// Orphaned sockets are listed with user 0: whoever is not root must not become root by closing.
    @Test(.enabled(if: geteuid() == 0, "only root gives a socket to somebody else: sudo make test"))
    func othersSocket_isTheirs_andNobodysOnceClosed() throws {
        let connection = try Connection(to: "127.0.0.1")
        #expect(fchown(connection.client.raw, 65_534, 65_534) == 0)
        #expect(connection.peer?.user == 65_534)
        connection.client.close()
        #expect(connection.peer == nil)
    }

    @Test func bothWaysOfAsking_sayTheSame() throws {
        let connection = try Connection(to: "127.0.0.1")
        let table = try #require(FileTree.contents(at: "/proc/net/tcp", atMost: 4 << 20))
        let listed = LocalPeer.socket(
            of: connection.clientEnd, to: connection.serverEnd, in: table, addressBytes: 4)
        #expect(listed != nil)
        #expect(listed == connection.peer)
    }
}

/// A connection within this machine, and both its sockets.
private final class Connection {
    let client: FileDescriptor
    let served: FileDescriptor
    let clientEnd: LocalPeer.End
    let serverEnd: LocalPeer.End

    init(to address: String) throws {
        let family = address.contains(":") ? AF_INET6 : AF_INET
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = FileDescriptor(owning: try Errno.check { socket(family, kind, 0) })
        client = FileDescriptor(owning: try Errno.check { socket(family, kind, 0) })
        try Self.withAddress(address, port: 0) { pointer, size in
            _ = try Errno.check { bind(listener.raw, pointer, size) }
        }
        try Errno.check { listen(listener.raw, 1) }
        serverEnd = try Self.end(of: listener)
        try Self.withAddress(address, port: serverEnd.port) { [client] pointer, size in
            _ = try Errno.check { connect(client.raw, pointer, size) }
        }
        clientEnd = try Self.end(of: client)
        served = FileDescriptor(owning: try Errno.check { accept(listener.raw, nil, nil) })
    }

    var peer: LocalPeer.Socket? { LocalPeer.socket(of: clientEnd, to: serverEnd) }

    var clientInode: UInt32 {
        var status = stat()
        return fstat(client.raw, &status) == 0 ? UInt32(truncatingIfNeeded: status.st_ino) : 0
    }

    private static func withAddress(
        _ text: String, port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, "\(port)", &hints, &list) == 0, let found = list else { throw Errno(EINVAL) }
        defer { freeaddrinfo(list) }
        try body(found.pointee.ai_addr, found.pointee.ai_addrlen)
    }

    private static func end(of socket: FileDescriptor) throws -> LocalPeer.End {
        var storage = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        try withUnsafeMutablePointer(to: &storage) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = try Errno.check { getsockname(socket.raw, pointer, &size) }
            }
        }
        let port = Int(UInt16(bigEndian: storage.sin6_port))
        return withUnsafeBytes(of: storage) { bytes in
            let range = Int32(storage.sin6_family) == AF_INET ? 4..<8 : 8..<24
            return .init(address: Array(bytes[range]), port: port)
        }
    }
}

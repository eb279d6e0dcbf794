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

    @Test func clientsUser_isFound_byBothEnds() {
        #expect(LocalPeer.user(of: client, to: server, in: table, addressBytes: 4) == 1000)
    }

    @Test func otherEnds_areNobodys() {
        let other = LocalPeer.End(address: [127, 0, 0, 1], port: 50181)
        #expect(LocalPeer.user(of: other, to: server, in: table, addressBytes: 4) == nil)
        #expect(LocalPeer.user(of: server, to: client, in: table, addressBytes: 4) == nil)
        #expect(LocalPeer.user(of: client, to: other, in: table, addressBytes: 4) == nil)
    }

    @Test func clientOnASocketForBothKinds_isFound() {
        let table = """
            0: 0000000000000000FFFF00000100007F:C404 0000000000000000FFFF00000100007F:21C2 01 0:0 0:0 0 33 0 2
            """
        #expect(LocalPeer.user(of: client, to: server, in: table, addressBytes: 16) == 33)
    }

    @Test(arguments: ["", "\n\n", "0: 1 2", "1: 0100007F:C404 0100007F:21C2 01 0 0 0 x 0"])
    func whatIsNoTable_hasNobody(table: String) {
        #expect(LocalPeer.user(of: client, to: server, in: table, addressBytes: 4) == nil)
    }

    @Test func groups_areTheSystems() throws {
        #expect(UserGroups.isMember(0, of: 0))
        #expect(!UserGroups.isMember(4_000_000_000, of: 0))
        #expect(UserGroups.group(ofFile: "/nonexistent") == nil)
        #expect(UserGroups.group(ofFile: "/etc/passwd") == 0)
    }
}

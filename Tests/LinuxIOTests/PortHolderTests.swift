import Glibc
import LinuxIO
import MeterTestKit
import Testing

struct PortHolderTests {
    /// As the kernel writes it: a listener on 127.0.0.1:8642, a connection to it, and a listener on every address.
    private let table = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:21C2 00000000:0000 0A 00000000:00000000 00:00000000 00000000   999        0 71 1 0 100 0 0 10 0
           1: 0100007F:21C2 0100007F:C404 01 00000000:00000000 00:00000000 00000000   999        0 72 1 0 20 4 30 10 -1
           2: 00000000:21C3 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 73 1 0 100 0 0 10 0
        """

    @Test(arguments: [(8642, [71]), (8643, [73]), (8644, []), (0, [])] as [(Int, [UInt32])])
    func onlyWhoListens_isFound(port: Int, inodes: [UInt32]) {
        #expect(PortHolder.listeners(on: port, in: table) == inodes)
    }

    @Test func listenerOverIPv6_isFound() {
        let line = " 0: 00000000000000000000000000000000:21C3 00000000000000000000000000000000:0000 0A 0:0 0:0 0 33 0 9"
        #expect(PortHolder.listeners(on: 8643, in: line) == [9])
    }

    /// The kernel lists a listener that nobody holds any more under inode 0.
    @Test(arguments: [
        "", "\n\n", "0: 1 2", " 0: 0100007F:21C2 0 0A 0 0 0 0 0 x 1", " 0: 0100007F:21C2 0 0A 0 0 0 0 0 0 1",
    ])
    func whatNamesNoSocket_isNoListener(text: String) { #expect(PortHolder.listeners(on: 8642, in: text).isEmpty) }

    @Test func thisVeryProcess_isNamed_andNobodyOnceItIsGone() throws {
        let server = try LocalServer(backlog: 1)
        let found = PortHolder.program(listeningOn: server.number)
        server.close()

        #expect(found?.process == Int(getpid()))
        #expect(found?.name.isEmpty == false)
        #expect(PortHolder.program(listeningOn: server.number) == nil)
    }
}

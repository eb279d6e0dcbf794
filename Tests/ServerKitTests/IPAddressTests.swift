import NIOCore
import ServerKit
import Testing

struct IPAddressTests {
    @Test(arguments: [
        ("0.0.0.0:8643", "0.0.0.0", 8643), ("[::1]:1", "::1", 1), ("8642", "0.0.0.0", 8642), ("pi:0", "pi", 0),
    ])
    func hostAndPort_areRead(text: String, host: String, port: Int) throws {
        let read = try #require(IPAddress.hostAndPort(text))
        #expect(read.host == host)
        #expect(read.port == port)
    }

    @Test(arguments: ["", ":", "pi:", "pi:x", "pi:65536", "pi:-1", ":8642", "a b:1"])
    func whatIsNoHostAndPort_isNone(text: String) {
        #expect(IPAddress.hostAndPort(text) == nil)
    }

    @Test func addressOfASocketForBothKinds_isTheIPv4Address() throws {
        #expect(IPAddress.plainBytes(of: "::ffff:192.0.2.7") == [192, 0, 2, 7])
        #expect(IPAddress.isLoopback("::ffff:127.0.0.1"))
        #expect(!IPAddress.isLoopback("::ffff:192.0.2.7"))
    }

    @Test func addressesOfOneIPv6Network_countTogether() throws {
        let first = try SocketAddress(ipAddress: "2001:db8:1:2::3", port: 1)
        let second = try SocketAddress(ipAddress: "2001:db8:1:2:ffff::9", port: 2)
        let other = try SocketAddress(ipAddress: "2001:db8:1:3::3", port: 1)

        #expect(IPAddress.network(of: first) == IPAddress.network(of: second))
        #expect(IPAddress.network(of: first) != IPAddress.network(of: other))
        #expect(IPAddress.network(of: try SocketAddress(ipAddress: "::ffff:192.0.2.7", port: 1)) == "192.0.2.7")
        #expect(IPAddress.network(of: nil) == "local")
    }
}

import CloudAPI
import Testing

struct URLAuthorityTests {
    @Test(arguments: [
        ("cloud.lan", "cloud.lan", UInt16?.none), ("cloud.lan:8643", "cloud.lan", 8643), ("10.0.0.7:1", "10.0.0.7", 1),
        ("[::1]:2379", "::1", 2379), ("[fe80::1]", "fe80::1", nil), ("a:65535", "a", 65_535),
    ])
    func hostAndPort_areRead(text: String, host: String, port: UInt16?) throws {
        let authority = try #require(URLAuthority(text))
        #expect(authority.host == host)
        #expect(authority.port == port)
    }

    @Test(arguments: ["", ":1", "a:", "a:0", "a:65536", "a:b", "a:1:2", "[::1", "[]", "[::1]x", "[::1]:", "a:-1"])
    func others_areRefused(text: String) { #expect(URLAuthority(text) == nil) }

    @Test(arguments: ["localhost:1", "127.0.0.1:2379", "127.1.2.3", "[::1]:1"])
    func loopback_isThisMachine(text: String) { #expect(URLAuthority(text)?.isLoopback == true) }

    /// Names that anybody may own.
    @Test(arguments: ["127.example.org:2379", "127.0.0.1.example.org", "localhost.example.org", "10.0.0.1", "[::2]"])
    func others_areNot(text: String) { #expect(URLAuthority(text)?.isLoopback == false) }
}

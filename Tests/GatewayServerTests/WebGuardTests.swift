import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import Testing

/// What a browser can be made to send by somebody else's page.
struct WebGuardTests {
    private let names = WebNames(["Bench-Pi", "bench-pi.local", "meters.example.org"])

    // MARK: - Host

    @Test(arguments: [
        "localhost", "localhost:8642", "LOCALHOST:8642", "127.0.0.1:8642", "127.8.9.1", "[::1]:8642", "[::1]",
        "bench-pi", "bench-pi:8642", "bench-pi.local.", "meters.example.org:443", "192.0.2.7:8642",
        "[::ffff:192.0.2.7]:8642",
    ])
    func ownNames_areAdmitted(authority: String) {
        #expect(names.admits(authority: authority, localAddress: "192.0.2.7"))
    }

    @Test(
        arguments: [
            nil, "", "evil.example", "evil.example:8642", "localhost.evil.example", "bench-pi.evil.example",
            "192.0.2.8",
            "127.0.0.1.evil.example", "localhost:8642:1", "localhost:x", "[::1", "[localhost]", "[::2]:8642",
            "evil@localhost",
            "localhost/", ":8642", ".",
        ] as [String?])
    func otherNames_areNot(authority: String?) {
        #expect(!names.admits(authority: authority, localAddress: "192.0.2.7"))
    }

    // MARK: - Origin and Sec-Fetch-Site

    private func refusal(
        _ method: HTTPRequest.Method, _ path: String = "/v1/status", authority: String? = "localhost:8642",
        origin: String? = nil, site: String? = nil, isFile: Bool = false
    ) throws -> ErrorCode? {
        var head = HTTPRequest(method: method, scheme: "http", authority: authority, path: path)
        for (name, value) in [("Origin", origin), ("Sec-Fetch-Site", site)] {
            if let value { head.headerFields[try #require(HTTPFields.Element.Name(name))] = value }
        }
        do throws(GatewayError) {
            try WebGuard(names: names).check(head, isFile: isFile, localAddress: "127.0.0.1")
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        arguments: [
            (nil, nil), (nil, "same-origin"), ("http://localhost:8642", "same-origin"), ("https://localhost:8642", nil),
        ] as [(String?, String?)])
    func ownPage_mayLookAndChange(origin: String?, site: String?) throws {
        #expect(try refusal(.get, origin: origin, site: site) == nil)
        #expect(try refusal(.post, origin: origin, site: site) == nil)
    }

    @Test(
        arguments: [
            ("http://evil.example", "cross-site"), ("http://evil.example", nil), (nil, "cross-site"),
            (nil, "same-site"),
            ("http://localhost:3000", "same-site"), ("http://localhost", nil), ("null", nil), ("null", "same-origin"),
            ("http://localhost:8642.evil.example", nil), ("", nil), (nil, "nonsense"),
        ] as [(String?, String?)])
    func otherPages_mayNeither(origin: String?, site: String?) throws {
        #expect(try refusal(.get, origin: origin, site: site) == .permission)
        #expect(try refusal(.post, origin: origin, site: site) == .permission)
        #expect(try refusal(.delete, origin: origin, site: site) == .permission)
    }

    @Test func addressBar_mayLook_andChangesNothing() throws {
        #expect(try refusal(.get, site: "none") == nil)
        #expect(try refusal(.post, site: "none") == .permission)
    }

    @Test func linkFromElsewhere_mayLeadToThePage_underItsOwnNameOnly() throws {
        #expect(try refusal(.get, "/", site: "cross-site", isFile: true) == nil)
        #expect(try refusal(.get, "/", authority: "evil.example", isFile: true) == .permission)
    }

    @Test(arguments: ["http://evil.example/v1/status", "*", ""])
    func targetThatIsNoPath_isRefused(path: String) throws {
        #expect(try refusal(.get, path) == .badRequest)
    }

    @Test(arguments: ["evil.example", "localhost:8642"])
    func secondHost_isRefused(host: String) throws {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost:8642", path: "/v1/status")
        head.headerFields[try #require(HTTPFields.Element.Name("Host"))] = host
        #expect(throws: GatewayError.self) {
            try WebGuard(names: names).check(head, isFile: false, localAddress: "127.0.0.1")
        }
    }

    @Test func refusal_showsNoControlCharacters_ofTheHost() throws {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "evil\u{1B}[31m", path: "/")
        do throws(GatewayError) {
            try WebGuard(names: names).check(head, isFile: true, localAddress: nil)
            Issue.record("it was let through")
        } catch {
            #expect(!error.message.contains("\u{1B}"))
        }
    }
}

import Gateway
import GatewayAPI
import GatewayServer
import MeterTestKit
import ServerKit
import Testing

/// The page behind a proxy, which is believed only if it is configured.
@Suite(.timeLimit(.minutes(10)))
struct WebProxyTests {
    private let web = WebBench()

    /// Headers of a proxy, and the cookie's path if the proxy is trusted.
    private static let prefixes: [([String: String], String)] = [
        (["X-Forwarded-Prefix": "/meters"], "/meters"),
        (["X-Ingress-Path": "/api/hassio_ingress/aZ09-_~."], "/api/hassio_ingress/aZ09-_~."),
        (["X-Ingress-Path": "/a", "X-Forwarded-Prefix": "/b"], "/a"),
        (["X-Ingress-Path": "/a b", "X-Forwarded-Prefix": "/b"], "/b"),
    ]
    private static let malformed = [
        "", "/", "meters", "/meters/", "//evil.example", "/a//b", "/a;Domain=evil", "/a b", "/%2e", "/é", "/a?b",
        "/a, /b", "/a\r\nX-Forwarded-Prefix: /b",
    ]

    @Test(arguments: [["127.0.0.0/8"], ["::1", "192.0.2.1"], []])
    func prefix_isTheCookiesPath_ifTheProxyIsTrusted(networks: [String]) async throws {
        var dependencies = web.dependencies()
        dependencies.proxies = networks.compactMap { IPNetwork($0) }
        let isTrusted = networks.first == "127.0.0.0/8"
        try await web.serve(dependencies) { page, _ in
            let status = try await page.enable(host: "127.0.0.1", port: 0)
            let (port, token) = (try #require(IPAddress.hostAndPort(status.listen)).port, try #require(status.token))
            let legal = Self.prefixes + Self.malformed.map { (["X-Forwarded-Prefix": $0], "/") }
            for (headers, path) in legal {
                let expected = isTrusted ? path : "/"
                for (method, body) in [("POST", #"{"token":"\#(token)"}"#), ("DELETE", nil)] {
                    let reply = try await WebBench.ask(port, method, "/v1/session", headers, body: body)
                    let parts = try #require(reply.cookies.first).split(separator: ";").map { $0.drop { $0 == " " } }
                    #expect(parts.filter { $0.hasPrefix("Path=") } == ["Path=\(expected)"], "\(headers)")
                }
            }
        }
        let warnings = web.bench.log.entries(saying: "proxy prefix ignored: not a path such as /meters")
        #expect(warnings.count == (isTrusted ? 1 : 0))
    }

    /// Somebody behind the proxy guesses, and makes up where the guesses come from.
    @Test(arguments: [true, false])
    func guesses_areCountedByTheAddressThatTheProxySaw(isTrusted: Bool) async throws {
        var dependencies = web.dependencies()
        dependencies.proxies = [try #require(IPNetwork(isTrusted ? "127.0.0.1" : "192.0.2.9"))]
        try await web.serve(dependencies) { page, _ in
            let status = try await page.enable(host: "127.0.0.1", port: 0)
            let (port, token) = (try #require(IPAddress.hostAndPort(status.listen)).port, try #require(status.token))
            func answer(to token: String, from address: String) async throws -> Int {
                try await WebBench.ask(
                    port, "POST", "/v1/session", ["X-Forwarded-For": address], body: #"{"token":"\#(token)"}"#
                ).status
            }
            for number in 0..<10 {
                #expect(try await answer(to: "mgt_x", from: "10.0.0.\(number), 192.0.2.1") == 401)
            }
            #expect(try await answer(to: token, from: "10.0.0.77,192.0.2.1") == 429)
            #expect(try await answer(to: token, from: "192.0.2.1, 192.0.2.2") == (isTrusted ? 200 : 429))
            #expect(try await answer(to: token, from: "not an address") == (isTrusted ? 200 : 429))
        }
    }

    /// A forwarded name is not a name: `Host` and `Origin` decide alone, whoever the proxy is.
    @Test func forwardedHost_opensNothing() async throws {
        var dependencies = web.dependencies()
        dependencies.proxies = [try #require(IPNetwork("127.0.0.1"))]
        try await web.serve(dependencies) { _, port in
            let claims = [
                "X-Forwarded-Host": "localhost", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/meters",
            ]
            for other in [
                ["Host": "evil.example"], ["Origin": "http://evil.example"],
                ["Host": "localhost", "Origin": "http://evil.example", "X-Forwarded-Host": "evil.example"],
                ["Host": "localhost:8642", "Origin": "https://localhost"],
            ] {
                let reply = try await WebBench.ask(port, "GET", "/v1/status", claims.merging(other) { $1 })
                #expect(reply.code == .permission, "\(other)")
            }
            let own = ["Host": "bench-pi:8443", "Origin": "https://bench-pi:8443"]
            #expect(try await WebBench.ask(port, "GET", "/v1/status", claims.merging(own) { $1 }).status == 200)
        }
    }

    /// The kernel's word is about the proxy then, which may be root.
    @Test func pageWithoutALogin_takesNoChangeThroughAProxy() async throws {
        try await web.bench.connect()
        try await web.serve { [bench = web.bench] _, port in
            for name in ["X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-IP", "X-Ingress-Path"] {
                let reply = try await WebBench.ask(port, "POST", ServerBench.meter("/disconnect"), [name: "x"])
                #expect(reply.code == .permission, "\(name)")
                #expect(try await WebBench.ask(port, "GET", "/v1/status", [name: "x"]).status == 200)
                #expect(
                    try await WebBench.ask(port, "GET", "/v1/session", [name: "x"]).text
                        == #"{"login":"none","may_change":false}"#)
            }
            #expect(await bench.directory.status().first?.wanted == true)
            #expect(try await WebBench.ask(port, "POST", ServerBench.meter("/disconnect")).status == 200)
        }
    }

    /// Whatever proxies make of %2F, which is a slash to some of them.
    @Test(arguments: ["port%3Api%3A%2Fdev%2Fx", "port:pi:~2Fdev~2Fx"])
    func idWithASlash_isReadInBothForms(path: String) async throws {
        try await web.serve { _, port in
            let reply = try await WebBench.ask(port, "GET", "/v1/meters/\(path)")
            #expect(reply.code == .noSuchMeter)
            #expect(reply.text.contains("pi:/dev/x"))
        }
    }

    @Test func streams_areNotCollectedByAProxy() async throws {
        try await web.bench.connect()
        try await web.serve { _, port in
            for path in ["/v1/live", ServerBench.meter("/readings"), ServerBench.meter("/traffic")] {
                let socket = try RawSocket(port: port)
                try socket.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let head = try await socket.receive(until: "\r\n\r\n").lowercased()
                #expect(head.contains("\r\nx-accel-buffering: no\r\n"), "\(path)")
            }
        }
    }

    @Test(arguments: [
        (
            "192.168.1.0/24", ["192.168.1.0", "192.168.1.255", "::ffff:192.168.1.7"],
            ["192.168.2.1", "10.0.0.1", "::1"]
        ),
        ("10.4.0.0/14", ["10.4.0.1", "10.7.255.255"], ["10.8.0.0", "10.3.255.255"]),
        ("127.0.0.1", ["127.0.0.1"], ["127.0.0.2", "localhost", ""]), ("0.0.0.0/0", ["8.8.8.8"], ["::1"]),
        ("fd00::/8", ["fd12::1"], ["fe80::1", "127.0.0.1"]), ("::1", ["::1"], ["::2"]),
    ])
    func network_containsItsAddresses(text: String, members: [String], others: [String]) throws {
        let network = try #require(IPNetwork(text))
        for address in members { #expect(network.contains(address), "\(address)") }
        for address in others { #expect(!network.contains(address), "\(address)") }
    }

    @Test(arguments: [
        "", "/", "localhost", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "::1/129", "1.2.3",
    ])
    func networkThatIsNone_isRefused(text: String) { #expect(IPNetwork(text) == nil) }
}

/// The page inside Home Assistant.
@Suite(.timeLimit(.minutes(10)))
struct WebIngressTests {
    private let web = WebBench()

    /// - Parameter peer: the Supervisor's address; nil for the real one, from which nobody comes here.
    private func serve(
        mayChange: Bool = false, peer: String? = "127.0.0.1",
        _ body: @Sendable (_ page: WebPage, _ port: Int) async throws -> Void
    ) async throws {
        var ingress = WebIngress(host: "127.0.0.1", port: 0, mayChange: mayChange)
        if let peer { ingress.peer = peer }
        var dependencies = web.dependencies(mayChange: false)
        dependencies.ingress = ingress
        try await web.serve(dependencies) { page, _ in
            try await eventually("the ingress is served") { await page.ingressPort != nil }
            try await body(page, try #require(await page.ingressPort))
        }
    }

    @Test(arguments: [nil, "192.0.2.1", "::1", ""])
    func otherPeers_areClosed_beforeAnythingIsRead(peer: String?) async throws {
        try await serve(peer: peer) { page, port in
            let silent = try RawSocket(port: port)
            #expect(await silent.drain() == 0)
            let claiming = try RawSocket(port: port)
            // The connection may be gone by now.
            try? claiming.send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 172.30.32.2\r\n\r\n")
            #expect(await claiming.drain() == 0)
            #expect(await page.status().serving)
        }
    }

    /// Whatever Home Assistant is called, and also while the page itself asks for the token.
    @Test func supervisor_needsNoNameAndNoLogin_andShowsItInAFrame() async throws {
        try await serve { page, port in
            _ = try await page.enable(host: "127.0.0.1", port: 0)
            for path in ["/", "/v1/status"] {
                let reply = try await WebBench.ask(port, "GET", path, ["Host": "home.example:8123"])
                #expect(reply.status == 200)
                #expect(reply.headers["content-security-policy"]?.contains("frame-ancestors 'self';") == true)
                #expect(reply.headers["x-frame-options"] == nil)
            }
            for other in [["Origin": "http://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
                let reply = try await WebBench.ask(port, "GET", "/v1/status", other)
                #expect(reply.code == .permission, "\(other)")
            }
            let reply = try await WebBench.ask(
                port, "DELETE", "/v1/session", ["X-Ingress-Path": "/api/hassio_ingress/x"])
            #expect(reply.cookies.first?.contains("Path=/api/hassio_ingress/x") == true)
        }
    }

    @Test(arguments: [true, false])
    func changes_needTheOption_andAreLogged(mayChange: Bool) async throws {
        try await web.bench.connect()
        try await serve(mayChange: mayChange) { [bench = web.bench] _, port in
            let session = try await WebBench.ask(port, "GET", "/v1/session").text
            #expect(session.contains("\"may_change\":\(mayChange)"))
            #expect(session.contains("ingress-changes = true") == !mayChange)
            let headers = ["X-Remote-User-Name": "ann", "X-Forwarded-For": "192.0.2.7", "X-Ingress-Path": "/x"]
            let reply = try await WebBench.ask(port, "POST", ServerBench.meter("/disconnect"), headers)
            #expect(reply.status == (mayChange ? 200 : 403))
            #expect(await bench.directory.status().first?.wanted == !mayChange)
            _ = try await WebBench.ask(port, "GET", "/v1/status", headers)
            let said = bench.log.entries(saying: "change made through Home Assistant")
            #expect(said.count == (mayChange ? 1 : 0))
            #expect(said.allSatisfy { "\($0)".contains("ann") && "\($0)".contains("/disconnect") })
        }
    }
}

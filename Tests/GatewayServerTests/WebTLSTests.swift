import AsyncHTTPClient
import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOSSL
import ServerKit
import Testing

/// TLS and plain HTTP on the page's one port.
@Suite(.timeLimit(.minutes(10)))
struct WebTLSTests {
    private let web = WebBench()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func dependencies(limits: WebServer.Limits = WebServer.Limits()) -> WebPage.Dependencies {
        var dependencies = web.dependencies(limits: limits)
        dependencies.tls = TLSKeeper(
            CertificateFiles(certificatePath: "\(folder.path)/c.pem", keyPath: "\(folder.path)/k.pem"),
            .own(CertificateTerms(commonName: "meterd", daysValid: 100)) { (["bench-pi"], more: []) },
            wallNow: dependencies.wallNow, logger: web.bench.log.logger)
        return dependencies
    }

    /// What `curl --insecure` would get.
    private func fetch(
        _ url: String, _ method: HTTPMethod = .GET, body: String? = nil, newest: TLSVersion? = nil
    ) async throws -> (status: UInt, headers: [String: String], text: String) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        (tls.minimumTLSVersion, tls.maximumTLSVersion) = (.tlsv1, newest)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            var request = HTTPClientRequest(url: url)
            request.method = method
            if let body { request.body = .bytes(ByteBuffer(string: body)) }
            let reply = try await client.execute(request, timeout: .seconds(60))
            let headers = Dictionary(reply.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
            return (reply.status.code, headers, String(buffer: try await reply.body.collect(upTo: 1 << 20)))
        }
    }

    /// With what a client begins TLS.
    private static func hello() throws -> [UInt8] {
        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
        let channel = EmbeddedChannel(handler: try NIOSSLClientHandler(context: context, serverHostname: "bench-pi"))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return Array(buffer: try #require(try channel.readOutbound(as: ByteBuffer.self)))
    }

    @Test func onePort_hasBoth_andOnlyTLSHasASecureCookie() async throws {
        try await web.serve(dependencies()) { page, _ in
            let status = try await page.enable(host: "127.0.0.1", port: 0)
            let port = try #require(IPAddress.hostAndPort(status.listen)).port
            let tls = try #require(status.tls)
            #expect(tls.self_signed && tls.error == nil && tls.days_left == 99)
            #expect(tls.fingerprint != nil)
            let login = #"{"token":"\#(try #require(status.token))"}"#

            let over = try await fetch("https://127.0.0.1:\(port)/v1/session", .POST, body: login)
            #expect(over.status == 200)
            #expect(over.headers["set-cookie"]?.contains("; Secure") == true)
            #expect(over.headers["strict-transport-security"] == nil)
            // This machine needs no TLS, and a Secure cookie would be kept from it.
            let plain = try await WebBench.ask(port, "POST", "/v1/session", body: login)
            #expect(plain.status == 200)
            #expect(try #require(plain.cookies.first).contains("Secure") == false)
        }
    }

    @Test func olderTLS_isRefused() async throws {
        try await web.serve(dependencies()) { _, port in
            let new = try await fetch("https://127.0.0.1:\(port)/", newest: .tlsv12)
            #expect(new.status == 200)
            await #expect(throws: (any Error).self) {
                try await fetch("https://127.0.0.1:\(port)/", newest: .tlsv11)
            }
        }
    }

    @Test func helloInSmallPieces_isAnswered() async throws {
        try await web.serve(dependencies()) { _, port in
            let socket = try RawSocket(port: port)
            let hello = try Self.hello()
            #expect(hello.first == 0x16)
            for byte in hello.prefix(3) {
                try socket.send([byte])
                // Long enough for the server to have read it alone.
                #expect(try await WebBench.ask(port, "GET", "/").status == 200)
            }
            try socket.send(Array(hello.dropFirst(3)))
            // A record of the server's handshake (RFC 8446, 5.1).
            _ = try await socket.receive(until: "\u{16}\u{3}\u{3}")
        }
    }

    @Test(arguments: [
        [], [0x16], Array("GE".utf8), [0x16, 3, 1, 2, 0, 0xFF], [0x80, 0, 0xFF], [0xFF, 13, 10, 13, 10],
    ])
    func clientThatSendsNothingUseful_isCutOff(bytes: [UInt8]) async throws {
        var limits = WebServer.Limits()
        limits.idlePatience = .milliseconds(50)
        try await web.serve(dependencies(limits: limits)) { _, port in
            let socket = try RawSocket(port: port)
            try socket.send(bytes)
            _ = await socket.drain()
        }
    }

    /// It hears that TLS ends, and says nothing.
    @Test func clientThatNeverLeaves_holdsNothingUp() async throws {
        var limits = WebServer.Limits()
        limits.idlePatience = .seconds(120)
        try await web.serve(dependencies(limits: limits)) { page, port in
            let socket = try RawSocket(port: port)
            try socket.send(try Self.hello())
            _ = try await socket.receive(until: "\u{16}\u{3}\u{3}")
            let took = try await ContinuousClock().measure {
                _ = try await page.enable(host: "127.0.0.1", port: 0)
                _ = await socket.drain()
            }
            #expect(took < .seconds(60))
        }
    }

    @Test func withoutACertificate_tlsIsRefused_andThisMachineIsServed() async throws {
        var dependencies = dependencies()
        dependencies.tls = TLSKeeper(
            CertificateFiles(certificatePath: "\(folder.path)/none.pem", keyPath: "\(folder.path)/none.key"), .given,
            wallNow: dependencies.wallNow, logger: web.bench.log.logger)
        try await web.serve(dependencies) { page, port in
            #expect(await page.status().tls?.error == "\(folder.path)/none.pem is missing")
            let plain = try await WebBench.ask(port, "GET", "/v1/status")
            #expect(plain.status == 200)
            await #expect(throws: (any Error).self) { try await fetch("https://127.0.0.1:\(port)/") }
        }
    }

    // MARK: Plain HTTP from the network

    @Test(
        arguments: [
            (nil, true), ("127.0.0.1", false), ("127.9.9.9", false), ("::1", false), ("::ffff:127.0.0.1", false),
            ("192.168.1.9", true), ("fd00::9", true), ("::ffff:192.168.1.9", true),
        ] as [(String?, Bool)])
    func plainRequest_isRedirectedOrRefused_unlessFromThisMachine(client: String?, isBarred: Bool) throws {
        let page = HTTPRequest(method: .get, scheme: "http", authority: "pi:8642", path: "/?a=1%20b#x")
        let call = HTTPRequest(method: .get, scheme: "http", authority: "pi:8642", path: "/v1/status")

        #expect(
            try WebGuard.redirect(of: page, isFile: true, from: client)
                == (isBarred ? "https://pi:8642/?a=1%20b#x" : nil))
        guard isBarred else {
            #expect(try WebGuard.redirect(of: call, isFile: false, from: client) == nil)
            return
        }
        let error = #expect(throws: GatewayError.self) {
            try WebGuard.redirect(of: call, isFile: false, from: client)
        }
        #expect(error?.code == .permission)
        #expect(error?.next.hasPrefix("ask for https://pi:8642;") == true)
    }

    @Test(.enabled(if: !IPAddress.ofThisMachine().filter { !$0.contains(":") }.isEmpty, "this machine has no network"))
    func plainRequestOverTheNetwork_isRedirectedOrRefused() async throws {
        let address = try #require(IPAddress.ofThisMachine().first { !$0.contains(":") })
        try await web.serve(dependencies()) { page, _ in
            let status = try await page.enable(host: address, port: 0)
            let authority = status.listen
            #expect(status.urls == ["https://\(authority)/"])

            let moved = try await fetch("http://\(authority)/long.css?a=b")
            #expect(moved.status == 307)
            #expect(moved.headers["location"] == "https://\(authority)/long.css?a=b")
            #expect(try await fetch("https://\(authority)/long.css?a=b").text == WebBench.longFile)
            for (method, path) in [(HTTPMethod.GET, "/v1/session"), (.POST, "/v1/session"), (.POST, "/"), (.GET, "/x")]
            {
                let refused = try await fetch("http://\(authority)\(path)", method, body: "{}")
                #expect(refused.status == 403)
                #expect(refused.headers["location"] == nil)
            }
            #expect(try await fetch("https://\(authority)/v1/session").status == 200)
        }
    }

    @Test(arguments: [("0.0.0.0", false), ("127.0.0.1", false), ("0.0.0.0", true)])
    func pageOpenedWithoutTLS_isSaid(host: String, hasTLS: Bool) async throws {
        try await web.serve(hasTLS ? dependencies() : web.dependencies()) { page, _ in
            #expect(await page.status().warning == nil)
            let warning = try await page.enable(host: host, port: 0).warning
            #expect(
                warning
                    == (host == "0.0.0.0" && !hasTLS
                        ? "what crosses the network is not encrypted, the token included" : nil))
        }
    }
}

import AsyncHTTPClient
import CZlib
import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import NIOCore
import NIOHTTP1
import ServerKit
import Testing

/// The web page's listener, as hostile and as ordinary clients meet it.
@Suite(.timeLimit(.minutes(10)))
struct WebServerTests {
    private let web = WebBench()

    @Test(arguments: ["/", "/v1/status", "/v1/nothing", "/v1/session", "/power/0", "/profile/0"])
    func everyAnswer_hasTheHeaders(path: String) async throws {
        try await web.serve { _, port in
            let reply = try await WebBench.ask(port, "GET", path)
            let policy = try #require(reply.headers["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'self';"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
            #expect(reply.headers["x-content-type-options"] == "nosniff")
            #expect(reply.headers["referrer-policy"] == "no-referrer")
            #expect(reply.headers["x-frame-options"] == "DENY")
            #expect(reply.headers["cross-origin-resource-policy"] == "same-origin")
            #expect(reply.headers["cache-control"] == (path == "/" ? "no-cache" : "no-store"))
            #expect(!reply.headers.keys.contains { $0.hasPrefix("access-control") })
        }
    }

    @Test func refusals_haveTheHeadersToo() async throws {
        try await web.serve { _, port in
            let reply = try await WebBench.ask(port, "GET", "/", ["Host": "evil.example"])
            #expect(reply.status == 403)
            #expect(reply.code == .permission)
            #expect(reply.headers["content-security-policy"] != nil)
            #expect(reply.headers["connection"] == "close")
        }
    }

    @Test func routes_areThoseOfTheControlSocket() async throws {
        try await web.bench.connect()
        try await web.serve { _, port in
            let reply = try await WebBench.ask(port, "GET", ServerBench.meter())
            #expect(reply.status == 200)
            let status = try JSONDecoder().decode(MeterStatus.self, from: Data(reply.text.utf8))
            #expect(status.state == "data-available")
            let done = try await WebBench.ask(
                port, "POST", ServerBench.meter("/disconnect"), ["Origin": "http://127.0.0.1:\(port)"])
            #expect(done.status == 200)
        }
    }

    @Test func anotherSitesPage_getsNothing_andChangesNothing() async throws {
        try await web.bench.connect()
        try await web.serve { [bench = web.bench] _, port in
            let evil = ["Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"]
            for (method, path) in [
                ("POST", ServerBench.meter("/disconnect")), ("GET", "/v1/live"), ("OPTIONS", "/v1/status"),
            ] {
                let reply = try await WebBench.ask(port, method, path, evil)
                #expect(reply.status == 403)
                #expect(!reply.headers.keys.contains { $0.hasPrefix("access-control") })
            }
            #expect(await bench.directory.status().first?.wanted == true)
        }
    }

    @Test func userWhoIsNotOfTheGroup_mayLookOnly() async throws {
        try await web.bench.connect()
        try await web.serve(web.dependencies(mayChange: false)) { _, port in
            #expect(try await WebBench.ask(port, "GET", "/v1/status").status == 200)
            let reply = try await WebBench.ask(port, "POST", ServerBench.meter("/disconnect"))
            #expect(reply.status == 403)
            #expect(reply.code == .permission)
            #expect(try await WebBench.ask(port, "GET", "/v1/session").text == #"{"login":"none","may_change":false}"#)
        }
    }

    /// Someone while the connection is accepted, and then: nobody, nobody once the body is there, another user, another socket of the same user.
    @Test(arguments: [
        [nil], [WebPeer(user: 1000, socket: 1), nil],
        [WebPeer(user: 1000, socket: 1), WebPeer(user: 0, socket: 1)],
        [WebPeer(user: 1000, socket: 1), WebPeer(user: 1000, socket: 2)],
        [nil, WebPeer(user: 1000, socket: 1)],
    ])
    func whoIsNotThere_fromTheHeadToTheChange_changesNothing(peers: [WebPeer?]) async throws {
        try await web.bench.connect()
        try await web.serve(web.dependencies(peers: [WebPeer(user: 1000, socket: 1)] + peers)) {
            [bench = web.bench] _, port in
            let reply = try await WebBench.ask(port, "POST", ServerBench.meter("/disconnect"), body: "{}")
            #expect(reply.status == 403)
            #expect(await bench.directory.status().first?.wanted == true)
        }
    }

    @Test(arguments: ["/logs", "/logs/1", "/%6Cogs", "/logs/..%2f"])
    func onlooker_readsNoLogs_forThatStopsTheMeasuring(path: String) async throws {
        try await web.bench.connect()
        try await web.serve(web.dependencies(mayChange: false)) { _, port in
            let reply = try await WebBench.ask(port, "GET", ServerBench.meter(path))
            #expect([403, 404].contains(reply.status))
            #expect([.permission, .notFound].contains(reply.code))
        }
        try await web.serve { _, port in
            // The bench's meter keeps none.
            let reply = try await WebBench.ask(port, "GET", ServerBench.meter("/logs"))
            #expect(reply.code == .refused)
        }
    }

    @Test func onlookersBody_isNotWaitedFor() async throws {
        try await web.serve(web.dependencies(mayChange: false)) { _, port in
            let socket = try RawSocket(port: port)
            let path = ServerBench.meter("/disconnect")
            try socket.send("POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
            #expect(try await socket.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 403 "))
        }
    }

    @Test func fileThatDidNotChange_isNotSentAgain() async throws {
        try await web.serve { _, port in
            let first = try await WebBench.ask(port, "GET", "/")
            #expect(first.headers["content-type"] == "text/html; charset=utf-8")
            let tag = try #require(first.headers["etag"])
            let second = try await WebBench.ask(port, "GET", "/", ["If-None-Match": tag])
            #expect(second.status == 304)
            #expect(second.text.isEmpty)
        }
    }

    @Test func file_isSentShorter_whereTheBrowserTakesThat() async throws {
        try await web.serve { _, port in
            let plain = try await WebBench.ask(port, "GET", "/long.css")
            #expect(plain.headers["content-encoding"] == nil)
            #expect(plain.headers["content-length"] == "\(WebBench.longFile.utf8.count)")
            #expect(plain.text == WebBench.longFile)
            for header in ["gzip", "deflate, GZIP;q=0.5, br"] {
                let short = try await WebBench.ask(port, "GET", "/long.css", ["Accept-Encoding": header])
                #expect(short.headers["content-encoding"] == "gzip")
                #expect(try #require(short.headers["content-length"].flatMap { Int($0) }) < 100)
                #expect(short.headers["vary"] == "Accept-Encoding")
                #expect(short.headers["etag"] == plain.headers["etag"])
            }
            for (path, header) in [("/long.css", "gzip;q=0, br"), ("/long.css", "xgzip"), ("/", "gzip")] {
                let reply = try await WebBench.ask(port, "GET", path, ["Accept-Encoding": header])
                #expect(reply.headers["content-encoding"] == nil)
            }
        }
    }

    /// Finds a file of the folder that CWebPage's list lacks, and one that was edited after the build.
    @Test func builtPage_isServedAsItLiesInItsFolder() async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/GatewayServer/Page")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        var dependencies = web.dependencies()
        dependencies.files = .built()
        try await web.serve(dependencies) { _, port in
            var others: [String] = []
            var types: [String: Set<String?>] = [:]
            for file in files {
                let name = file.lastPathComponent
                let reply = try await WebBench.ask(port, "GET", name == "index.html" ? "/" : "/\(name)")
                if try Data(reply.text.utf8) != Data(contentsOf: file) { others.append(name) }
                // Below a proxy's path only relative addresses lead here.
                for start in ["\"/v1/", "`/v1/", "from \"/", "import(\"/", "href=\"/", "src=\"/", "url(/"] {
                    #expect(!reply.text.contains(start), "\(name) has \(start)")
                }
                types[file.pathExtension, default: []].insert(reply.headers["content-type"])
            }
            #expect(others == [])
            #expect(
                types == [
                    "css": ["text/css; charset=utf-8"], "html": ["text/html; charset=utf-8"],
                    "js": ["text/javascript; charset=utf-8"], "svg": ["image/svg+xml"],
                    "webmanifest": ["application/manifest+json"],
                ])
        }
    }

    @Test func longJSON_isSentShorter_whereTheClientTakesThat() async throws {
        try await web.bench.plugIn()
        try await web.serve { _, port in
            let path = ServerBench.meter("/settings")
            let plain = try await WebBench.ask(port, "GET", path)
            #expect(plain.headers["content-encoding"] == nil)
            #expect(plain.text.utf8.count > 1024)
            let short = try await WebBench.ask(port, "GET", path, ["Accept-Encoding": "gzip"])
            #expect(short.headers["content-encoding"] == "gzip")
            #expect(short.headers["vary"] == "Accept-Encoding")
            #expect(try #require(short.headers["content-length"].flatMap { Int($0) }) < plain.text.utf8.count / 2)
            // It is what was sent at length.
            let bytes = try await HTTPClient.withHTTPClient { client in
                var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
                request.headers = ["accept-encoding": "gzip"]
                return Array(
                    buffer: try await client.execute(request, timeout: .seconds(60)).body.collect(upTo: 1 << 20))
            }
            #expect(String(decoding: try #require(Self.inflated(bytes, upTo: 1 << 20)), as: UTF8.self) == plain.text)
        }
    }

    /// The whole of what was compressed with gzip; nil if the bytes are anything else.
    private static func inflated(_ bytes: [UInt8], upTo most: Int) -> [UInt8]? {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(&stream, MAX_WBITS + 16, ZLIB_VERSION, size) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var (input, output) = (bytes, [UInt8](repeating: 0, count: most))
        let result = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(source.count))
                (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(target.count))
                return inflate(&stream, Z_FINISH)
            }
        }
        return result == Z_STREAM_END ? Array(output.prefix(most - Int(stream.avail_out))) : nil
    }

    @Test(arguments: ["/v1/session", "/v1/nothing"])
    func shortJSON_isSentAsItIs(path: String) async throws {
        try await web.serve { _, port in
            let reply = try await WebBench.ask(port, "GET", path, ["Accept-Encoding": "gzip"])
            #expect(reply.headers["content-type"]?.hasPrefix("application/json") == true)
            #expect(reply.headers["content-encoding"] == nil)
        }
    }

    @Test(arguments: [
        "/../web.json", "/..%2fweb.json", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/lib/", "/index.html",
    ])
    func pathsThatAreNoFile_leadNowhere(path: String) async throws {
        try await web.serve { _, port in
            let reply = try await WebBench.ask(port, "GET", path)
            #expect(reply.status == 404)
            #expect(reply.code == .notFound)
        }
    }

    // MARK: - Too much, too slow

    @Test func bodyThatIsTooLong_isRefused_howeverItIsSent() async throws {
        try await web.bench.plugIn()
        try await web.serve { _, port in
            let path = ServerBench.meter("/settings")
            let announced = try RawSocket(port: port)
            try announced.send("PATCH \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
            #expect(try await announced.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413 "))

            let chunked = try RawSocket(port: port)
            let chunk = String(repeating: " ", count: 0x8000)
            try chunked.send("PATCH \(path) HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<3 { try chunked.send("8000\r\n\(chunk)\r\n") }
            #expect(try await chunked.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func headThatIsTooLong_endsTheConnection() async throws {
        try await web.serve { _, port in
            let socket = try RawSocket(port: port)
            try socket.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n")
            let answer = try await socket.receive(until: "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            _ = await socket.drain()
        }
    }

    @Test func headThatDoesNotEnd_isCutOff() async throws {
        var limits = WebServer.Limits()
        limits.idlePatience = .milliseconds(50)
        try await web.serve(web.dependencies(limits: limits)) { _, port in
            let socket = try RawSocket(port: port)
            try socket.send("GET / HTTP/1.1\r\nHost: loc")
            #expect(await socket.drain() == 0)
        }
    }

    @Test func connectionsThatAreTooMany_areClosed_andLaterOnesAreNot() async throws {
        var limits = WebServer.Limits()
        limits.connectionsPerAddress = 2
        try await web.serve(web.dependencies(limits: limits)) { _, port in
            let first = try RawSocket(port: port)
            let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try first.send(request)
            _ = try await first.receive(until: "</title>")
            do {
                let second = try RawSocket(port: port)
                try second.send(request)
                _ = try await second.receive(until: "</title>")
                let third = try RawSocket(port: port)
                #expect(await third.drain() == 0)
            }
            // The second one is gone: its place is free once the server saw that.
            while true {
                let next = try RawSocket(port: port)
                // Refused once more, it is cut while it sends.
                try? next.send(request)
                if (try? await next.receive(until: "</title>")) != nil { break }
            }
        }
    }

    @Test func userWithVeryManyConnections_keepsNobodyElseOut() async throws {
        var limits = WebServer.Limits()
        limits.connectionsPerAddress = 2
        let peers = [1, 1, 1, 2].map { WebPeer(user: $0, socket: 1) }
        try await web.serve(web.dependencies(limits: limits, peers: peers)) { _, port in
            let slow = [try RawSocket(port: port), try RawSocket(port: port)]
            for socket in slow { try socket.send("GET / HTTP/1.1\r\nHost: loc") }
            let third = try RawSocket(port: port)
            #expect(await third.drain() == 0)
            #expect(try await WebBench.ask(port, "GET", "/").status == 200)
            // On a busy machine their time is over by now.
            for socket in slow { try? socket.send("alhost\r\n\r\n") }
        }
    }

    @Test func readerThatTakesNothing_isCutOff_andNobodyElseIsHeldUp() async throws {
        // Some of these are more than the system buffers.
        let web = WebBench(eventBytes: 1 << 20)
        var limits = WebServer.Limits()
        limits.stallPatience = .milliseconds(50)
        try await web.bench.connect()
        try await web.serve(web.dependencies(limits: limits)) { _, port in
            let stalled = try RawSocket(port: port, receiveBuffer: 4096)
            try stalled.send("GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await stalled.receive(until: "event: all")

            // Until what the system buffers is full, and then what the server does.
            try await eventually("the reader is cut off") {
                web.bench.settings.changes.mark(.host)
                web.bench.loop.advance(by: LiveFeed.interval)
                return !web.live.hasListeners
            }
            #expect(try await WebBench.ask(port, "GET", "/v1/status").status == 200)
            #expect(await stalled.drain() > 0)
        }
    }
}

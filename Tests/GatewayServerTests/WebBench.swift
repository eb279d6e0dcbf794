import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterSimulator
import MeterTestKit
import ServerKit
import ServiceLifecycle
import Synchronization
import Testing

/// The web page's listener over the routes of a `ServerBench`, on a port of its own.
struct WebBench {
    /// An opening that lives as long as the bench.
    final class Openings: WebOpeningRepository {
        let kept = Mutex<WebOpening?>(nil)
        func read() throws(GatewayError) -> WebOpening? { kept.withLock { $0 } }
        func write(_ opening: WebOpening) throws(GatewayError) { kept.withLock { $0 = opening } }
        func remove() throws(GatewayError) { kept.withLock { $0 = nil } }
    }

    let bench = ServerBench()
    let openings = Openings()
    let live: LiveFeed

    /// - Parameter eventBytes: what every look at the host finds new of the store, about.
    init(eventBytes: Int = 0) {
        let (directory, settings) = (bench.directory, bench.settings)
        let looks = Mutex(0)
        let zone = ZoneMeters(directory: directory)
        live = LiveFeed(
            LiveFeed.Sources(
                meters: { await zone.status() }, taken: { await zone.takeStatus(ofAll: $0) },
                host: {
                    let look = looks.withLock { count in
                        count += 1; return count
                    }
                    let error = eventBytes == 0 ? nil : "\(look)" + String(repeating: " ", count: eventBytes)
                    var body = LiveBody(at: 0)
                    body.store = StoreStatus(path: "/x", unsaved: 0, saved: 0, dropped: 0, error: error)
                    body.cloud = CloudStatus(joined: false, host_id: "id", host_name: "pi")
                    body.refresh_version = await settings.refreshVersion
                    return body
                }), changes: settings.changes, loop: bench.loop)
    }

    static let longFile = String(repeating: "a { color: red }\n", count: 1000)
    static let files = WebFiles([
        "/": .init(contentType: "text/html; charset=utf-8", bytes: Array("<!doctype html><title>Meters</title>".utf8)),
        "/long.css": .init(contentType: "text/css; charset=utf-8", bytes: Array(longFile.utf8)),
    ])

    /// - Parameter peers: who is at the other end, a look each; the last one for ever.
    func dependencies(
        limits: WebServer.Limits = WebServer.Limits(), mayChange: Bool = true,
        peers: [WebPeer?] = [WebPeer(user: 1000, socket: 1)]
    ) -> WebPage.Dependencies {
        let looks = Mutex(peers)
        let users = LocalUsers(
            peer: { _ in looks.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? nil } },
            mayChange: { _ in mayChange })
        let noise = Mutex(UInt64(1))
        let never = AsyncStream.makeStream(of: Void.self)
        var dependencies = WebPage.Dependencies(
            host: "127.0.0.1", port: 0, names: WebNames(["bench-pi"]), hostName: "bench-pi", files: Self.files,
            repository: openings, users: users, now: { [loop = bench.loop] in loop.now },
            wallNow: { [loop = bench.loop] in loop.wallNow },
            makeRNG: {
                SplitMix64(
                    seed: noise.withLock { value in
                        value += 1; return value
                    })
            },
            pause: { [never] in for await _ in never.stream {} })
        dependencies.limits = limits
        return dependencies
    }

    /// Serves while `body` runs.
    func serve(
        _ dependencies: WebPage.Dependencies? = nil,
        _ body: @Sendable (_ page: WebPage, _ port: Int) async throws -> Void
    ) async throws {
        let router = bench.routes.router(with: [LiveRoutes(feed: live)])
        let page = WebPage(dependencies ?? self.dependencies(), router: router, logger: bench.log.logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await page.run() }
            tasks.addTask { [live] in await live.run() }
            let status = await page.settled()
            #expect(status.serving)
            try await body(page, try #require(IPAddress.hostAndPort(status.listen)).port)
            tasks.cancelAll()
            while try await tasks.next() != nil {}
        }
        await bench.directory.shutdown()
    }

    struct Reply {
        var status: Int
        var headers: [String: String]
        var cookies: [String]
        var text: String

        var code: ErrorCode? {
            // A body that is no error shows as nil in the test.
            try? JSONDecoder().decode(ErrorBody.self, from: Data(text.utf8)).code
        }
    }

    static func ask(
        _ port: Int, _ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil
    ) async throws -> Reply {
        let socket = try RawSocket(port: port)
        var lines = ["\(method) \(path) HTTP/1.1", "Connection: close"]
        if headers["Host"] == nil { lines.append("Host: 127.0.0.1:\(port)") }
        lines += headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        try socket.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
        let answer = try await socket.receiveAll()
        let end = try #require(answer.range(of: "\r\n\r\n"))
        var reply = Reply(status: 0, headers: [:], cookies: [], text: String(answer[end.upperBound...]))
        for line in answer[..<end.lowerBound].components(separatedBy: "\r\n") {
            guard let colon = line.firstIndex(of: ":"), !line.hasPrefix("HTTP/") else {
                reply.status = try #require(Int(line.split(separator: " ").dropFirst().first ?? ""))
                continue
            }
            let (name, value) = (line[..<colon].lowercased(), line[line.index(colon, offsetBy: 2)...])
            if name == "set-cookie" { reply.cookies.append(String(value)) }
            reply.headers[name] = String(value)
        }
        return reply
    }
}

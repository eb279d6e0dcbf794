import AsyncHTTPClient
import Domain
import FoundationEssentials
import Glibc
import MeterCodec
import NIOCore
import NIOHTTP1

/// What the web page costs: a visit, and pages that stay open.
enum WebBenchmark {
    private static let meters = 10
    private static let pages = 20

    static func run() async throws {
        Report.title("the web page: \(meters) meters at 2 Hz, \(pages) open pages (15 s each, after 8 s)")
        let ports = try SimulatedPorts(meters, of: .um25c, refresh: .milliseconds(500))
        let daemon = try MeterdProcess(ports: ports.paths, model: .um25c)
        try daemon.awaitData(meters)
        let url = try daemon.webURL()
        try await visit(url)
        Clocks.pause(8)
        let alone = share(of: daemon)
        let readers = try (0..<pages).map { _ in try StreamReader(url: url, path: "v1/live") }
        Clocks.pause(2)
        let together = share(of: daemon)
        let bytes = readers.reduce(0) { $0 + $1.end() }
        Report.figure("CPU without pages", "\((alone * 100).fixed(2)) % of a core")
        Report.figure(
            "  with \(pages) open pages",
            "\((together * 100).fixed(2)) %, \((together / max(alone, 0.0001)).fixed(1)) x",
            goal: (together - alone < 0.05, "adds under 5 %"))
        Report.figure("  a page gets", "\((Double(bytes) / Double(pages) / 17 / 1000).fixed(1)) kB/s")
        guard daemon.end() else { throw BenchmarkError("meterd did not end cleanly") }
        ports.end()
    }

    /// The page's script and all that it imports.
    private static func modules(of url: String) async throws -> [String] {
        let client = LoadClient(url, connections: 1)
        var (found, waiting) = (["app.js"], ["app.js"])
        while let next = waiting.popLast() {
            let text = String(buffer: try await client.get("/\(next)"))
            for piece in text.split(separator: " from \"./").dropFirst() {
                let name = String(piece.prefix { $0 != "\"" })
                guard name.hasSuffix(".js"), !found.contains(name) else { continue }
                found.append(name)
                waiting.append(name)
            }
        }
        try await client.shutdown()
        return found
    }

    /// Everything that a first visit loads, one file after the other over one connection.
    private static func visit(_ url: String) async throws {
        let files = try await ["", "app.css", "icon.svg"] + modules(of: url) + ["v1/session", "v1/status"]
        var (bytes, times) = (0, [Double]())
        // The shared client would unpack what it gets.
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        for _ in 0..<20 {
            bytes = 0
            let began = Clocks.wall
            for file in files {
                var request = HTTPClientRequest(url: url + file)
                request.headers.add(name: "Accept-Encoding", value: "gzip")
                let answer = try await client.execute(request, timeout: .seconds(30))
                guard answer.status == .ok else { throw BenchmarkError("\(file) is answered with \(answer.status)") }
                bytes += try await answer.body.collect(upTo: 1 << 20).readableBytes
            }
            times.append(Clocks.wall - began)
        }
        try await client.shutdown()
        Report.figure("a visit, charts included", "\(bytes.description) bytes", goal: (bytes < 200_000, "under 200 kB"))
        let median = times.sorted()[times.count / 2]
        Report.figure("  the host's part of it (median)", median.milliseconds, goal: (median < 1, "under 1 s"))
    }

    private static func share(of daemon: MeterdProcess) -> Double {
        let (began, used) = (Clocks.wall, daemon.processorTime)
        Clocks.pause(15)
        return (daemon.processorTime - used) / (Clocks.wall - began)
    }
}

/// An open page: reads a stream on a thread of its own and counts what comes.
private final class StreamReader: @unchecked Sendable {
    private let descriptor: Int32
    private let counter: UnsafeMutablePointer<Int>
    private var thread = pthread_t()

    init(url: String, path: String) throws {
        let port = url.split(separator: ":").last.flatMap { UInt16($0.filter(\.isNumber)) } ?? 0
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        counter = .allocate(capacity: 1)
        counter.initialize(to: 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        let request = Array("GET /\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        guard connected == 0, send(descriptor, request, request.count, 0) == request.count else {
            throw BenchmarkError("the page on port \(port) cannot be reached")
        }
        pthread_create(
            &thread, nil,
            { raw in
                guard let raw else { return nil }
                let reader = Unmanaged<StreamReader>.fromOpaque(raw).takeUnretainedValue()
                var bytes = [UInt8](repeating: 0, count: 65_536)
                while case let count = recv(reader.descriptor, &bytes, bytes.count, 0), count > 0 {
                    reader.counter.pointee += count
                }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// - Returns: how many bytes came.
    func end() -> Int {
        shutdown(descriptor, Int32(SHUT_RDWR))
        pthread_join(thread, nil)
        close(descriptor)
        defer { counter.deallocate() }
        return counter.pointee
    }
}

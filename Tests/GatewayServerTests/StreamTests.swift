import AsyncHTTPClient
import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import HummingbirdTesting
import Logging
import MeterTestKit
import NIOCore
import ServiceLifecycle
import Testing

/// Answers that go on, on the router and on the socket.
@Suite(.timeLimit(.minutes(10)))
struct StreamTests {
    private let bench = ServerBench()

    private func session() async throws -> DeviceSession { try await bench.directory.session("\(ServerBench.id)") }

    @Test func readings_areOneObjectALine_untilTheSessionEnds() async throws {
        try await bench.connect()
        let session = try await session()

        async let answering = bench.request(.get, ServerBench.meter("/readings"))
        try await eventually("somebody listens") { session.readings.hasListeners }
        bench.loop.advance(by: .seconds(2))
        await bench.directory.shutdown()
        let answer = try await answering

        #expect(answer.status == 200)
        #expect(answer.contentType == "application/x-ndjson")
        #expect(answer.text.hasSuffix("\n"))
        let lines = try answer.text.split(separator: "\n").map {
            try JSONDecoder().decode(ReadingLine.self, from: Data($0.utf8))
        }
        #expect(
            lines.map(\.time) == [
                "2026-05-28T20:26:41.020Z", "2026-05-28T20:26:41.520Z", "2026-05-28T20:26:42.020Z",
                "2026-05-28T20:26:42.520Z",
            ])
        #expect(lines.allSatisfy { $0.values.reading[.voltage] != nil && $0.missed == nil })
        #expect(!answer.text.contains("missed"))
    }

    @Test func slowClient_isToldWhatItMissed() async throws {
        try await bench.connect()
        let session = try await session()

        async let answering = bench.request(.get, ServerBench.meter("/readings"))
        try await eventually("somebody listens") { session.readings.hasListeners }
        // More than the buffer holds, at once: whatever the client could not take in between is gone, and told.
        bench.loop.advance(by: .seconds(1000))
        await bench.directory.shutdown()
        let answer = try await answering

        let lines = try answer.text.split(separator: "\n").map {
            try JSONDecoder().decode(ReadingLine.self, from: Data($0.utf8))
        }
        #expect(lines.count + lines.reduce(0) { $0 + ($1.missed ?? 0) } == 2000)
        #expect(lines.last?.time == "2026-05-28T20:43:20.520Z")
    }

    @Test func slowRecorder_isToldWhatItMissed() async throws {
        try await bench.connect()
        let session = try await session()

        async let answering = bench.request(.get, ServerBench.meter("/traffic"))
        try await eventually("somebody listens") { session.traffic.hasListeners }
        // Two requests a second and their answers are far more than the 4096 messages that wait.
        bench.loop.advance(by: .seconds(3000))
        await bench.directory.shutdown()
        let answer = try await answering

        let lines = try answer.text.split(separator: "\n").map {
            try JSONDecoder().decode(TrafficLine.self, from: Data($0.utf8))
        }
        let missed = lines.compactMap(\.missed)
        #expect(missed.allSatisfy { $0 > 0 })
        #expect((11_990...12_010).contains(lines.count + missed.reduce(0, +)))
    }

    @Test func traffic_hasBothDirections_inHex() async throws {
        try await bench.connect()
        let session = try await session()

        async let answering = bench.request(.get, ServerBench.meter("/traffic"))
        try await eventually("somebody listens") { session.traffic.hasListeners }
        bench.loop.advance(by: .milliseconds(100))
        await bench.directory.shutdown()
        let answer = try await answering

        let lines = try answer.text.split(separator: "\n").map {
            try JSONDecoder().decode(TrafficLine.self, from: Data($0.utf8))
        }
        #expect(lines.map(\.dir) == ["in"] || lines.map(\.dir) == ["out", "in"])
        #expect(lines.last?.hex.count == 260)
        #expect(lines.last?.hex.hasPrefix("09c9") == true)
        #expect(!answer.text.contains("missed"))
        #expect(lines.last?.t == 0.02)
    }

    @Test(arguments: [nil, "{}", String(repeating: " ", count: 60_000)] as [String?])
    func streamThatIsOverAtOnce_isAnEmptyAnswer_whateverTheRequestHas(body: String?) async throws {
        try await bench.connect()
        await bench.directory.shutdown()

        for _ in 0..<20 {
            let answer = try await bench.request(.get, ServerBench.meter("/readings"), body)
            #expect(answer.status == 200)
            #expect(answer.text.isEmpty)
        }
    }

    // MARK: - On the socket

    /// Runs the server on a socket of its own, and checks that it is gone afterwards.
    private func withServer(_ body: (_ socket: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gw-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let socket = folder.appendingPathComponent("control.sock").path
        let (running, run) = AsyncStream.makeStream(of: Void.self)
        let server = ControlServer(router: bench.routes.router(), socketPath: socket, logger: bench.log.logger)
        let group = ServiceGroup(
            services: [server.application { run.finish() }],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for await _ in running {}
            try await body(socket)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    private func url(_ socket: String, _ path: String) -> String {
        let encoded = socket.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? socket
        return "http+unix://\(encoded)\(path)"
    }

    @Test func socket_isForOwnerAndGroup_andAnswers() async throws {
        try await bench.connect()

        try await withServer { socket in
            let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? Int
            #expect(mode == 0o660)
            let response = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: url(socket, ServerBench.meter())), timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1 << 20)
            #expect(
                try JSONDecoder().decode(MeterStatus.self, from: Data(body.readableBytesView)).state == "data-available"
            )
        }
        await bench.directory.shutdown()
    }

    @Test func listener_isForgotten_whenTheClientLeaves() async throws {
        try await bench.connect()
        let session = try await session()

        try await withServer { socket in
            try await listen(socket, to: session)
            try await eventually("nobody listens any more") { !session.readings.hasListeners }
        }
        await bench.directory.shutdown()
    }

    /// Takes one line and leaves.
    private func listen(_ socket: String, to session: DeviceSession) async throws {
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: url(socket, ServerBench.meter("/readings"))), timeout: .seconds(30))
        #expect(session.readings.hasListeners)
        bench.loop.advance(by: .milliseconds(500))
        var text = ""
        for try await chunk in response.body {
            text += String(buffer: chunk)
            if text.contains("\n") { break }
        }
        #expect(text.hasPrefix("{"))
    }

    @Test func openStream_ends_whenTheMetersAreLeft_soThatTheServerCanStop() async throws {
        try await bench.connect()

        try await withServer { socket in
            let response = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: url(socket, ServerBench.meter("/readings"))), timeout: .seconds(30))
            await bench.directory.shutdown()
            let rest = try await response.body.collect(upTo: 1 << 20)
            #expect(rest.readableBytes == 0)
        }
    }
}

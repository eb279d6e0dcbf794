import AsyncHTTPClient
import Domain
import FoundationEssentials
import Glibc
import MeterCodec
import NIOCore
import NIOHTTP1

/// What it adds to meterd's work that a broker hears of its meters, and that Prometheus asks for its figures.
enum ListenersBenchmark {
    private static let meters = 10
    private static let rounds = 3
    /// Of one measurement. Prometheus asks every 15 s unless told otherwise.
    private static let seconds = 15.0

    static func run() async throws {
        Report.title("who listens: \(meters) meters at 2 Hz (\(rounds) rounds of \(seconds.fixed(0)) s each)")
        guard let program = OwnProgram.installed("mosquitto") else {
            Report.line("  skipped: Mosquitto is not installed (apt-get install mosquitto)")
            return
        }
        let folder = try TemporaryFolder()
        let port = try FreePort.find()
        try "listener \(port) 127.0.0.1\nallow_anonymous true\npersistence false\n"
            .write(toFile: "\(folder.path)/mosquitto.conf", atomically: false, encoding: .utf8)
        let broker = try ChildProcess(program, ["-c", "\(folder.path)/mosquitto.conf"])
        let ports = try SimulatedPorts(2 * meters, of: .um25c, refresh: .milliseconds(500))
        let alone = try MeterdProcess(ports: Array(ports.paths.prefix(meters)), model: .um25c)
        let telling = try MeterdProcess(
            ports: Array(ports.paths.suffix(meters)), model: .um25c,
            more: "[mqtt]\nurl = \"mqtt://127.0.0.1:\(port)\"\n")
        for daemon in [alone, telling] { try daemon.awaitData(meters) }
        Clocks.pause(8)
        // Both at the same time, so that whatever the machine does meanwhile is done to both.
        let shares = (0..<rounds).map { _ in MeterdProcess.shares(of: [alone, telling], for: seconds) }
        let (base, told) = (shares.map { $0[0] }.median, shares.map { $0[1] }.median)
        Report.figure("CPU of meterd", "\((base * 100).fixed(2)) % of a core")
        tell("  with a broker, a reading each 5 s and meter", told, base)
        let url = try alone.webURL() + "metrics"
        try await ask(url)
        let before = alone.processorTime
        for _ in 0..<20 { try await ask(url) }
        let each = (alone.processorTime - before) / 20
        tell("  asked for its figures each 15 s", base + each / 15, base)
        Report.figure("    an answer", (each * 1000).fixed(2) + " ms")
        for daemon in [alone, telling] {
            guard daemon.end() else { throw BenchmarkError("meterd did not end cleanly") }
        }
        ports.end()
        broker.end()
    }

    private static func tell(_ name: String, _ share: Double, _ base: Double) {
        Report.figure(
            name, "\((share * 100).fixed(2)) %, \((share / base).fixed(2)) x",
            goal: (share <= 1.1 * base, "adds under 10 %"))
    }

    private static func ask(_ url: String) async throws {
        let answer = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
        guard answer.status == .ok else { throw BenchmarkError("/metrics is answered with \(answer.status)") }
        _ = try await answer.body.collect(upTo: 1 << 20)
    }
}

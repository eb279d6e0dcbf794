import Domain
import Gateway
import GatewayAPI
import Glibc
import LinuxIO
import Logging
import MeterCodec
import MeterStore
import USBTransport

/// The whole path of a reading - pseudo-terminal, loop, session, decoder, store, observer - beside a bare loop that only
/// asks and reads the bytes, over the same ports of the same simulated meters. The meters are another process, whose
/// work neither counts.
enum PathBenchmark {
    /// What a measurement found.
    struct Outcome {
        var readings: Int
        var processorTime: Double

        var microseconds: Double { processorTime / Double(max(1, readings)) * 1e6 }
    }

    static func run() async throws {
        Report.title("Whole path beside a bare loop (same ports, same UM25C; processor time a reading)")
        try await compare(meters: 10, interval: .milliseconds(100), seconds: 8, ratioMax: 3)
        try await compare(meters: 1, interval: .milliseconds(500), seconds: 15, ratioMax: 10)
    }

    private static func compare(meters: Int, interval: Duration, seconds: Double, ratioMax: Double) async throws {
        let ports = try SimulatedPorts(meters, of: .um25c, refresh: .milliseconds(50))
        let rate = Double(meters) * 1000 / Double(interval.milliseconds)
        Report.line("  \(Int(rate)) readings/s: \(meters) x \(interval.milliseconds) ms for \(Int(seconds)) s each")
        // The control before and after, as other work on the machine comes and goes.
        let before = try BareLoop(ports.paths).run(interval: interval, seconds: seconds / 2)
        let quiet = try await gateway(ports.paths, interval: interval, seconds: seconds, isWatched: false)
        let watched = try await gateway(ports.paths, interval: interval, seconds: seconds, isWatched: true)
        let after = try BareLoop(ports.paths).run(interval: interval, seconds: seconds / 2)
        ports.end()
        let control = Outcome(
            readings: before.readings + after.readings, processorTime: before.processorTime + after.processorTime)
        Report.figure("bare loop", "\(control.microseconds.fixed(1)) us  (\(control.readings) readings)")
        for (name, outcome) in [("decoded, stored, observable", quiet), ("the same, with a listener each", watched)] {
            let ratio = outcome.microseconds / control.microseconds
            Report.figure(
                name, "\(outcome.microseconds.fixed(1)) us = \(ratio.fixed(2)) x",
                goal: (ratio <= ratioMax, "\(ratioMax.fixed(0)) x  (\(outcome.readings) readings)"))
        }
    }

    /// All that meterd does to a reading, from first to last in one process: this one.
    private static func gateway(
        _ paths: [String], interval: Duration, seconds: Double, isWatched: Bool
    ) async throws -> Outcome {
        let folder = try TemporaryFolder()
        let store = try MeterStore.open(path: "\(folder.path)/bench.sqlite")
        let loop = try IOLoop(name: "bench-io")
        loop.start()
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let recorder = SampleRecorder(meters: Meters(), repository: store, loop: loop, logger: logger)
        let recording = Task { await recorder.run() }
        var sessions: [DeviceSession] = []
        for (index, path) in paths.enumerated() {
            let session = makeSession(index, interval: interval, loop: loop, recorder: recorder, logger: logger)
            await session.appeared(Sighting(id: session.id, model: .um25c, name: nil, link: .serial(path: path)))
            guard case .data = await session.waitForData(.seconds(10)) else {
                throw BenchmarkError("no data at \(path)")
            }
            sessions.append(session)
            // Spread over the interval, as the control asks one after the other.
            Clocks.pause(Double(interval.milliseconds) / 1000 / Double(paths.count))
        }
        let listeners = isWatched ? sessions.map { session in Task { await listen(to: session) } } : []
        let started = Clocks.process
        let first = await count(sessions)
        Clocks.pause(seconds)
        let readings = await count(sessions) - first
        // The last batch, which is all of it here, belongs to the work.
        recorder.finish()
        await recording.value
        let used = Clocks.process - started
        let saved = recorder.status(path: "").saved
        guard saved >= readings else { throw BenchmarkError("\(saved) of \(readings) readings were stored") }
        for session in sessions { await session.shutdown() }
        for listener in listeners where await listener.value < readings / paths.count {
            throw BenchmarkError("a listener missed readings")
        }
        loop.shutdown()
        try store.close()
        return Outcome(readings: readings, processorTime: used)
    }

    private static func makeSession(
        _ index: Int, interval: Duration, loop: IOLoop, recorder: SampleRecorder, logger: Logger
    ) -> DeviceSession {
        let id = MeterID.mac(MACAddress(bits: UInt64(index + 1)))
        var settings = MeterSettings()
        settings.pollInterval = interval
        return DeviceSession(
            id: id, model: .um25c, isWanted: true, settings: settings, loop: loop,
            opener: SerialChannelOpener(loop: loop), track: recorder.track(for: id),
            rng: SystemRandomNumberGenerator(), logger: logger)
    }

    private static func listen(to session: DeviceSession) async -> Int {
        var heard = 0
        for await _ in session.readings.subscribe() { heard += 1 }
        return heard
    }

    private static func count(_ sessions: [DeviceSession]) async -> Int {
        var readings = 0
        for session in sessions { readings += await session.status().counters.readings }
        return readings
    }
}

/// The floor: writes the request, reads the block, waits for the next turn. Nothing is decoded or kept.
struct BareLoop {
    private let lines: [Int32]

    init(_ paths: [String]) throws {
        lines = try paths.map { path in
            let line = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
            var settings = termios()
            guard line >= 0, tcgetattr(line, &settings) == 0 else { throw BenchmarkError("\(path) cannot be opened") }
            cfmakeraw(&settings)
            // A read returns with the first bytes, or after two seconds without any.
            settings.c_cc.6 = 0
            settings.c_cc.5 = 20
            tcsetattr(line, TCSANOW, &settings)
            return line
        }
    }

    func run(interval: Duration, seconds: Double) throws -> PathBenchmark.Outcome {
        defer { for line in lines { close(line) } }
        let step = Double(interval.milliseconds) / 1000 / Double(lines.count)
        // The simulators look for a new peer every 50 ms.
        Clocks.pause(0.2)
        for line in lines { try ask(line) }
        let turns = Int(seconds / step)
        let begin = Clocks.wall
        let started = Clocks.thread
        for turn in 0..<turns {
            Clocks.pause(until: begin + Double(turn) * step)
            try ask(lines[turn % lines.count])
        }
        return PathBenchmark.Outcome(readings: turns, processorTime: Clocks.thread - started)
    }

    private func ask(_ line: Int32) throws {
        var request: UInt8 = 0xF0
        guard write(line, &request, 1) == 1 else { throw BenchmarkError("a request was not taken: errno \(errno)") }
        var missing = 130
        try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer in
            while missing > 0 {
                let count = read(line, buffer.baseAddress, buffer.count)
                guard count > 0 else { throw BenchmarkError("no answer: errno \(errno)") }
                missing -= count
            }
        }
    }
}

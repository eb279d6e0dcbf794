import CBenchmarks
import Domain
import Gateway
import GatewayAPI
import Glibc
import LinuxIO
import Logging
import MeterCodec
import MeterStore
import USBTransport

/// Meters that sample a thousand times a second by their own clock: from their queues, over real pseudo-terminals, to the
/// store. The meters are another process, whose work does not count.
enum FastBenchmark {
    private static let seconds = 20.0
    private static let rate = 1000

    static func run() async throws {
        Report.title("KM003C at \(rate) samples a second: decoded, counted, stored, observable")
        for (meters, isWatched, goal) in [(1, false, 5.0), (1, true, 5.0), (10, false, 100.0)] {
            let name = "\(meters) meter\(meters == 1 ? "" : "s")" + (isWatched ? ", watched" : "")
            try await measure(name, meters: meters, isWatched: isWatched, goal: goal)
        }
    }

    private static func measure(_ name: String, meters: Int, isWatched: Bool, goal: Double) async throws {
        let ports = try SimulatedPorts(meters, of: .km003c, refresh: .milliseconds(100))
        defer { ports.end() }
        let folder = try TemporaryFolder()
        let store = try MeterStore.open(path: "\(folder.path)/bench.sqlite")
        let loop = try IOLoop(name: "bench-io")
        loop.start()
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let shared = Meters()
        let counts = EnergyCounts(meters: shared, repository: store)
        let recorder = SampleRecorder(meters: shared, repository: store, counts: counts, loop: loop, logger: logger)
        let recording = Task { await recorder.run() }
        var sessions: [DeviceSession] = []
        for (index, path) in ports.paths.enumerated() {
            let id = MeterID.mac(MACAddress(bits: UInt64(index + 1)))
            var settings = MeterSettings()
            settings.rate = rate
            let session = DeviceSession(
                id: id, model: .km003c, isWanted: true, settings: settings, loop: loop,
                opener: SerialChannelOpener(loop: loop), track: recorder.track(for: id),
                counting: counts.track(for: id),
                rng: SystemRandomNumberGenerator(), logger: logger)
            await session.appeared(Sighting(id: id, model: .km003c, name: nil, link: .serial(path: path)))
            guard case .data = await session.waitForData(.seconds(20)) else {
                throw BenchmarkError("no data at \(path)")
            }
            sessions.append(session)
        }
        let listeners =
            isWatched ? sessions.map { session in Task { for await _ in session.readings.subscribe() {} } } : []
        Clocks.pause(2)
        let (first, started, allocated) = (await count(sessions), Clocks.process, cb_allocations())
        Clocks.pause(seconds)
        let (used, allocations) = (Clocks.process - started, cb_allocations() - allocated)
        let samples = await count(sessions) - first
        guard samples > meters * rate * Int(seconds) * 9 / 10 else {
            throw BenchmarkError("only \(samples) samples came")
        }
        var lost = 0
        for session in sessions { lost += await session.status().counters.lost_samples ?? 0 }
        recorder.finish()
        await recording.value
        for session in sessions { await session.shutdown() }
        for listener in listeners { await listener.value }
        loop.shutdown()
        let percent = used / seconds * 100
        Report.figure(
            name, "\(percent.fixed(2)) % of a core", goal: (percent < goal, "under \(goal.fixed(0)) %"))
        Report.figure("  a sample", "\((used / Double(samples) * 1e6).fixed(2)) us, \(samples) samples, \(lost) lost")
        let perSample = Double(allocations) / Double(samples)
        Report.figure(
            "  heap allocations a sample", perSample.fixed(3),
            goal: (perSample < 1, "under 1: by answers and not by samples"))
        try await reportRoom(store, meters)
        try store.close()
    }

    /// What is in the store, as a day of one meter would take.
    private static func reportRoom(_ store: MeterStore, _ meters: Int) async throws {
        var (bytes, covered) = (0.0, 0.0)
        for index in 0..<meters {
            let id = MeterID.mac(MACAddress(bits: UInt64(index + 1)))
            let all = WallTime(millisecondsSince1970: 0)..<WallTime(millisecondsSince1970: .max)
            let seconds = try await store.buckets(.second, of: id, in: all)
            var block = SampleBucketBlock(tier: .second, holding: seconds.first?.start ?? all.lowerBound)
            for second in seconds where SampleTier.second.block(of: second.start) == block.start { block.add(second) }
            bytes += Double(block.encoded().count)
            covered += Double(block.buckets.count)
        }
        let day = bytes / max(1, covered) * 86_400 / 1e6
        Report.figure("  a day of one meter in the store", "\(day.fixed(1)) MB", goal: (day < 20, "under 20 MB"))
    }

    private static func count(_ sessions: [DeviceSession]) async -> Int {
        var readings = 0
        for session in sessions { readings += await session.status().counters.readings }
        return readings
    }
}

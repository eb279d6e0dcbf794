import Domain
import Gateway
import MeterCodec
import MeterStore

/// Ten million stored readings as a file: the real daemon, and `meterctl export` into a file.
enum ExportBenchmark {
    private static let readings = 10_000_000
    /// So many in a minute's chunk: a hundred a second.
    private static let perChunk = 6000
    private static let meter = MeterID.mac(MACAddress(bits: 0x02AB_CDEF_0001))
    private static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)

    static func run() async throws {
        Report.title("Export: \(Double(readings).grouped) readings of one meter at 100/s as CSV")
        let folder = try TemporaryFolder()
        let decoding = try await fill("\(folder.path)/meterd.sqlite")
        let daemon = try MeterdProcess(
            ports: ["/nonexistent"], model: .um25c, ids: [meter], state: folder.path)
        try daemon.awaitData(0)
        let file = "\(folder.path)/export.csv"
        let end = start + .milliseconds(10 * readings)
        let (began, used) = (Clocks.wall, daemon.processorTime)
        let export = try daemon.begin([
            "export", "\(meter)", "--from", "\(start)", "--to", "\(end)", "--output", file,
        ])
        var (ours, theirs) = (0.0, 0.0)
        while export.isRunning {
            theirs = max(theirs, export.memory("VmHWM"))
            ours = max(ours, daemon.memory("VmHWM"))
            Clocks.pause(0.05)
        }
        guard export.wait() else { throw BenchmarkError("meterctl export failed") }
        let time = Clocks.wall - began
        let lines = Report.lineCount(file) - 1
        let rate = Double(lines) / time
        Report.figure("readings in the file", Double(lines).grouped, goal: (lines == readings, "all"))
        Report.figure("readings a second", rate.grouped, goal: (rate >= 500_000, "500,000"))
        Report.control("decoding what is stored, and nothing else", Double(readings) / decoding, "readings/s", of: rate)
        Report.figure(
            "processor of meterd a reading", "\(((daemon.processorTime - used) / Double(lines) * 1e6).fixed(2)) us")
        Report.figure("VmHWM of meterd", "\(ours.fixed(1)) MB", goal: (ours < 100, "under 100 MB"))
        Report.figure("VmHWM of meterctl", "\(theirs.fixed(1)) MB", goal: (theirs < 100, "under 100 MB"))
        guard daemon.end() else { throw BenchmarkError("meterd did not end cleanly") }
    }

    /// - Returns: how long it takes to decode them, in seconds.
    private static func fill(_ path: String) async throws -> Double {
        let store = try MeterStore.open(path: path)
        var decoding = 0.0
        for group in 0..<(readings / perChunk / 10 + 1) {
            var chunks: [SampleChunk] = []
            for number in (group * 10)..<(group * 10 + 10) {
                guard let chunk = chunk(number * perChunk, min((number + 1) * perChunk, readings)) else { break }
                chunks.append(chunk)
            }
            let began = Clocks.thread
            for chunk in chunks { try chunk.forEach { _ in } }
            decoding += Clocks.thread - began
            try await store.append(chunks)
        }
        // What meterd would do in its first minutes.
        while try await store.rollUp() > 0 {}
        try store.close()
        return decoding
    }

    private static func chunk(_ first: Int, _ end: Int) -> SampleChunk? {
        guard first < end else { return nil }
        var builder = SampleChunkBuilder(meter: meter)
        for step in first..<end {
            var reading = Reading()
            reading[.voltage] = 5 + Double(step &* 7919 % 101) / 1000
            reading[.current] = 1.5 + Double(step &* 104_729 % 211) / 1000
            reading[.power] = 7.5 + Double(step &* 1299 % 307) / 1000
            reading[.energy] = Double(step / 500) / 1000
            reading[.temperature] = 25 + Double(step / 10_000 % 5)
            builder.append(start + .milliseconds(10 * step), reading)
        }
        return builder.finish()
    }
}

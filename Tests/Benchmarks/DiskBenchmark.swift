import Domain
import Gateway
import MeterCodec
import MeterSimulator
import MeterStore

/// What a day of one meter writes to the disk: a whole day at 2 Hz, batch by batch as the recorder makes them, into a
/// real store, only faster.
enum DiskBenchmark {
    private static let readingsPerBatch = 120
    private static let batches = 1440

    static func run() async throws {
        Report.title("Disk: a day of one UM25C at 2 Hz, a batch a minute")
        let folder = try TemporaryFolder()
        let store = try MeterStore.open(path: "\(folder.path)/bench.sqlite")
        let meter = MeterID.mac(MACAddress(bits: 1))
        try await store.save(KnownMeter(id: meter, model: .um25c))
        var simulated = SimulatedUM(model: .um25c)
        var decoder = UMDecoder()
        var builder = SampleChunkBuilder(meter: meter)
        var chunkBytes = 0
        let (before, blocksBefore) = (written("wchar"), written("write_bytes"))
        let (began, used) = (Clocks.wall, Clocks.process)
        for batch in 0..<batches {
            for place in 0..<readingsPerBatch {
                let time = Duration.milliseconds(500 * (batch * readingsPerBatch + place))
                for answer in simulated.receive([0xF0], at: time) { decoder.append(answer) }
                while let step = decoder.next() {
                    guard case .frame(let frame) = step else { continue }
                    frame.forEachReading {
                        builder.append(WallTime(millisecondsSince1970: 1_800_000_000_000) + time, $0)
                    }
                }
            }
            guard let chunk = builder.finish() else { throw BenchmarkError("no readings in a batch") }
            chunkBytes += chunk.bytes.count
            try await store.append([chunk])
        }
        try store.close()
        let readings = Double(batches * readingsPerBatch)
        let bytes = Double(written("wchar") - before)
        let megabytes = bytes / 1e6
        Report.figure("written to the file system a reading", "\((bytes / readings).fixed(1)) bytes")
        Report.figure(
            "written to the file system in the day", "\(megabytes.fixed(2)) MB", goal: (megabytes < 10, "under 10 MB"))
        Report.figure(
            "of it handed to the device so far", "\((Double(written("write_bytes") - blocksBefore) / 1e6).fixed(2)) MB")
        Report.figure("kept: chunks, bytes a reading", (Double(chunkBytes) / readings).fixed(2))
        let (time, spent) = (Clocks.wall - began, Clocks.process - used)
        Report.figure("time it took: wall, CPU", "\(time.fixed(1)) s, \(spent.fixed(1)) s")
    }

    /// A counter of this process in /proc/self/io.
    private static func written(_ key: String) -> Int {
        let line = Report.file("/proc/self/io").split(separator: "\n").first { $0.hasPrefix("\(key):") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }
}

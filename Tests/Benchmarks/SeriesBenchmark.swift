import Domain
import Gateway
import GatewayAPI
import MeterStore

/// A month of one meter at 2 Hz as a chart: what the server needs until the answer is there, but for the socket.
enum SeriesBenchmark {
    private static let days = 30
    private static let points = 1000

    static func run() async throws {
        Report.title("Series: a month of one meter at 2 Hz as a chart of \(points) points")
        let folder = try TemporaryFolder()
        let store = try MeterStore.open(path: "\(folder.path)/bench.sqlite")
        let meter = MeterID.mac(MACAddress(bits: 1))
        let start = WallTime(millisecondsSince1970: 1_795_000_000_000)
        for hour in 0..<(24 * days) {
            try await store.append(try (0..<60).map { try chunk(of: meter, minute: hour * 60 + $0, start) })
        }
        var began = Clocks.wall
        var readings = 0
        while case let count = try await store.rollUp(), count > 0 { readings += count }
        let summing = Clocks.wall - began
        Report.figure("summed up in minutes and hours", "\(Double(readings).grouped) readings")
        Report.figure("time a reading", "\((summing / Double(readings) * 1e9).fixed(0)) ns")

        let end = start + .seconds(86_400 * days)
        let month = try await time { try await series(store, meter, start..<end) }
        Report.figure("a month, from minutes", month.milliseconds, goal: (month < 0.5, "under 500 ms"))
        let hour = try await time { try await series(store, meter, end + .seconds(-3600)..<end) }
        Report.figure("its last hour, from single readings", hour.milliseconds)
        began = Clocks.wall
        var builder = SeriesBuilder(span: start..<end, points: points, quantities: [.voltage, .current, .power])
        let samples = try await store.samples(of: meter, in: start..<(start + .seconds(86_400)), limit: .max)
        for sample in samples { builder.add(sample.time, sample.reading) }
        Report.control("single readings of a day, times \(days)", (Clocks.wall - began) * Double(days), of: month)
        try store.close()
    }

    /// The best of some, in seconds.
    private static func time(_ body: () async throws -> Void) async throws -> Double {
        var best = Double.infinity
        for _ in 0..<5 {
            let began = Clocks.wall
            try await body()
            best = min(best, Clocks.wall - began)
        }
        return best
    }

    private static func series(_ store: MeterStore, _ meter: MeterID, _ span: Range<WallTime>) async throws {
        let builder = SeriesBuilder(span: span, points: points, quantities: [.voltage, .current, .power])
        let series = try await store.fill(builder, of: meter).finish()
        guard series.times.count > points / 2 else { throw BenchmarkError("only \(series.times.count) points") }
    }

    private static func chunk(of meter: MeterID, minute: Int, _ start: WallTime) throws -> SampleChunk {
        var builder = SampleChunkBuilder(meter: meter)
        for number in 0..<120 {
            let step = minute * 120 + number
            var reading = Reading()
            reading[.voltage] = 5 + Double(step * 7919 % 101) / 1000
            reading[.current] = 1.5 + Double(step * 104_729 % 211) / 1000
            reading[.power] = 7.5 + Double(step * 1299 % 307) / 1000
            reading[.energy] = Double(step / 10) / 1000
            reading[.charge] = Double(step / 5)
            reading[.temperature] = 25 + Double(step / 1000 % 5)
            builder.append(start + .milliseconds(500 * step), reading)
        }
        guard let chunk = builder.finish() else { throw BenchmarkError("no readings in a minute") }
        return chunk
    }
}

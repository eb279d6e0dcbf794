import Domain
import FoundationEssentials
import Gateway
import MeterStore

/// A store as a meter leaves it that has been read for 31 days up to now: a reading each five seconds, and the last ten minutes at
/// 100 a second. Summed up as meterd does. For what looks at such a store from outside (Tests/Web/run speed).
enum StoreFilling {
    private static let days = 31
    /// Readings an hour before the last ten minutes: of what is shown of a month, minutes are left, however many there were.
    private static let pace = Duration.seconds(5)
    private static let (fast, fastFor) = (Duration.milliseconds(10), Duration.seconds(600))

    /// - Parameter arguments: the file, which is made, and the id of the meter.
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2, let meter = MeterID(arguments[1]) else {
            throw BenchmarkError("fill takes the path of a store and the id of a meter")
        }
        let store = try MeterStore.open(path: arguments[0])
        let now = WallTime(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        let turn = now + .milliseconds(-fastFor.milliseconds)
        try await fill(store, meter, from: now + .seconds(-86_400 * days), to: turn, each: pace)
        try await fill(store, meter, from: turn, to: now, each: fast)
        while try await store.rollUp() > 0 {}
        try store.close()
    }

    private static func fill(
        _ store: MeterStore, _ meter: MeterID, from start: WallTime, to end: WallTime, each pace: Duration
    ) async throws {
        var (time, chunks) = (start, [SampleChunk]())
        while time < end {
            var builder = SampleChunkBuilder(meter: meter)
            let stop = min(end, time + .seconds(60))
            while time < stop {
                builder.append(time, reading(at: time))
                time = time + pace
            }
            if let chunk = builder.finish() { chunks.append(chunk) }
            guard chunks.count == 60 || time >= end else { continue }
            try await store.append(chunks)
            chunks = []
        }
    }

    /// A charge of two hours that begins again and again, with noise.
    private static func reading(at time: WallTime) -> Reading {
        let ms = time.millisecondsSince1970
        let part = Double(ms % 7_200_000) / 7_200_000
        let noise = Double(ms / 10 * 7919 % 1009) / 1009 - 0.5
        var reading = Reading()
        let (volts, amperes) = (5 + 4 * part + noise / 20, 2.2 * (1 - part * part) + noise / 8)
        // With the digits of a KM003C.
        reading[.voltage] = (volts * 1e4).rounded() / 1e4
        reading[.current] = (amperes * 1e4).rounded() / 1e4
        reading[.power] = (volts * amperes * 1e3).rounded() / 1e3
        return reading
    }
}

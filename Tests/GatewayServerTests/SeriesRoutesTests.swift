import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SeriesRoutesTests {
    private let bench = ServerBench()

    private func series(_ query: String) async throws -> Answer {
        return try await bench.request(
            .get, ServerBench.meter("/series\(query)"),
            with: [SeriesRoutes(directory: bench.directory, series: bench.series)])
    }

    /// Readings once a second, so many, ending a second ago; some of them in the store.
    private func record(_ count: Int, stored: Int = 0) async throws {
        let track = bench.recorder.track(for: ServerBench.id)
        let first = bench.loop.wallNow + .seconds(-count)
        var builder = SampleChunkBuilder(meter: ServerBench.id)
        for number in 0..<count {
            var reading = Reading()
            reading[.voltage] = 5 + Double(number) / 1000
            reading[.current] = nil
            if number < stored {
                builder.append(first + .seconds(number), reading)
            } else {
                track.append(first + .seconds(number), reading)
            }
        }
        try await bench.store.append([builder.finish()].compactMap(\.self))
    }

    @Test func series_isInColumns_withWhatIsNotStoredYet() async throws {
        try await bench.plugIn()
        try await record(60, stored: 40)

        let body = try await series("?points=3600").decode(SeriesBody.self)

        #expect(body.meter == "\(ServerBench.id)")
        #expect(body.tier == "raw")
        #expect(body.width_ms == 1000)
        #expect(body.t_ms.count == 60)
        #expect(body.t_ms.last == 3_599_000)
        #expect(body.series.keys.sorted() == ["voltage_V"])
        #expect(body.series["voltage_V"]?.min.first == 5)
        #expect(body.series["voltage_V"]?.max.last == 5.059)
        #expect(body.start == (bench.loop.wallNow + .seconds(-3600)).description)
    }

    @Test func series_hasNoMorePoints_thanAskedFor_andEveryPeak() async throws {
        try await bench.plugIn()
        try await record(600, stored: 300)

        let body = try await series("?points=10&quantities=voltage_V").decode(SeriesBody.self)

        #expect(body.tier == "1 min")
        #expect(body.t_ms.count <= 10)
        #expect(body.series["voltage_V"]?.max.compactMap(\.self).max() == 5.599)
        #expect(body.series["voltage_V"]?.min.compactMap(\.self).min() == 5)

        // Measured throughout, ten points of a minute each, and one more as the span begins within a minute.
        let from = bench.loop.wallNow + .seconds(-600)
        let full = try await series("?points=10&quantities=voltage_V&from=\(from)").decode(SeriesBody.self)
        #expect(full.width_ms == 60_000)
        #expect(full.t_ms.count == 10 + 1)
    }

    @Test func series_isBetweenTheTimes_thatAreAskedFor() async throws {
        try await bench.plugIn()
        try await record(60)
        let (from, to) = (bench.loop.wallNow + .seconds(-30), bench.loop.wallNow + .seconds(-20))

        let text = try await series("?from=\(from)&to=\(to.millisecondsSince1970)").decode(SeriesBody.self)

        #expect(text.t_ms.map { from + .milliseconds($0) } == (0..<10).map { from + .seconds($0) })
    }

    @Test func emptySeries_hasNoColumns() async throws {
        try await bench.plugIn()

        let answer = try await series("?from=0&to=1000")

        #expect(
            answer.text
                == #"{"gap_ms":10000,"meter":"02:00:00:00:25:0C","series":{},"start":"1970-01-01T00:00:00.000Z","#
                + #""t_ms":[],"tier":"raw","width_ms":1}"#)
    }

    @Test(arguments: [
        ("?points=0", "points cannot be \"0\"; it takes 1 to 10000"),
        ("?points=10001", "points cannot be \"10001\"; it takes 1 to 10000"),
        ("?from=yesterday", "from cannot be \"yesterday\""), ("?to=2026-02-30T00:00:00Z", "to cannot be"),
        ("?from=1000&to=1000", "is not a stretch of time"), ("?quantities=watts", "no quantity is called \"watts\""),
        ("?quantities=", "no quantity is called \"\""),
    ])
    func wrongQuestion_isRefused(_ query: String, _ words: String) async throws {
        try await bench.plugIn()

        let answer = try await series(query)

        #expect(answer.status == 400)
        #expect(answer.error?.message.contains(words) == true, "\(answer.text)")
    }

    @Test(arguments: ["?from=-9223372036854775808&to=9223372036854775807", "?from=0&to=9223372036854775807&points=1"])
    func anyTime_isAnswered(_ query: String) async throws {
        try await bench.plugIn()
        try await record(10)

        #expect(try await series(query).status == 200)
    }

    @Test func unknownMeter_is404() async throws {
        #expect(try await series("").status == 404)
    }
}

import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StretchRoutesTests {
    private let bench = ServerBench()

    private func request(_ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil) async throws -> Answer {
        return try await bench.request(
            method, uri, body,
            with: [
                StretchRoutes(
                    directory: bench.directory, series: bench.series, recordings: bench.recordings, marks: bench.marks),
                RecordingRoutes(
                    directory: bench.directory, recordings: bench.recordings, series: bench.series, marks: bench.marks),
            ])
    }

    /// 1 A at 5 V once a second, so many times, the last one a second ago; the first part of them stored.
    private func record(_ count: Int, stored: Int) async throws {
        try await bench.plugIn()
        let track = bench.recorder.track(for: ServerBench.id)
        let first = bench.loop.wallNow + .seconds(-count)
        var builder = SampleChunkBuilder(meter: ServerBench.id)
        for number in 0..<count {
            var reading = Reading()
            reading[.voltage] = 5
            reading[.current] = 1
            let time = first + .seconds(number)
            if number < stored { builder.append(time, reading) } else { track.append(time, reading) }
        }
        try await bench.store.append([builder.finish()].compactMap(\.self))
    }

    private func query(secondsAgo from: Int, to: Int = 0) -> String {
        "?from=\((bench.loop.wallNow + .seconds(-from)).millisecondsSince1970)"
            + "&to=\((bench.loop.wallNow + .seconds(-to)).millisecondsSince1970)"
    }

    @Test func stretch_addsUpWhatIsStored_andWhatIsNotYet() async throws {
        try await record(721, stored: 400)

        let body = try await request(.get, ServerBench.meter("/stretch\(query(secondsAgo: 3600))"))
            .decode(StretchBody.self)

        #expect(body.readings == 721)
        #expect(body.duration_ms == 720_000)
        #expect(((body.charge_mAh ?? 0) - 200).magnitude < 1e-6)
        #expect(((body.energy_Wh ?? 0) - 1).magnitude < 1e-9)
        #expect(body.gap_count == 0)
        #expect(body.resolution_ms == 0)
        #expect(body.quantities["voltage_V"] == .init(least: 5, greatest: 5, mean: 5, p5: 5, p50: 5, p95: 5))
        #expect(body.quantities.keys.sorted() == ["current_A", "voltage_V"])
    }

    @Test func stretch_hasItsCost() async throws {
        try await record(721, stored: 0)
        _ = try await bench.directory.set(["tariff": "0.32 EUR"], for: "\(ServerBench.id)")

        let body = try await request(.get, ServerBench.meter("/stretch\(query(secondsAgo: 3600))"))
            .decode(StretchBody.self)

        // 1 Wh.
        #expect(body.cost?.amount == 0.00032)
        #expect(body.cost?.currency == "EUR")
    }

    @Test func stretchWithoutReadings_saysSo_withoutInventing() async throws {
        try await record(10, stored: 0)

        let answer = try await request(.get, ServerBench.meter("/stretch\(query(secondsAgo: 3600, to: 60))"))

        let body = try answer.decode(StretchBody.self)
        #expect(body.readings == 0)
        #expect(body.quantities.isEmpty)
        #expect(answer.text.contains(#""energy_Wh":null"#))
        #expect(answer.text.contains(#""from":null"#))
    }

    @Test func stretch_becomesARecording_thatIsLikeAnyOther() async throws {
        try await record(100, stored: 50)
        let from = bench.loop.wallNow + .seconds(-60)
        let asked = #"{"from":"\#(from)","to":"\#(from + .seconds(30))","name":"the middle"}"#

        let body = try await request(.post, ServerBench.meter("/recordings"), asked).decode(RecordingBody.self)

        #expect(body.name == "the middle")
        #expect(body.state == "ended")
        #expect(body.readings == 30)
        #expect(body.started == from.description)
        #expect(body.mine)
        let listed = try await request(.get, "/v1/recordings").decode(RecordingsBody.self)
        #expect(listed.recordings.map(\.id) == [body.id])
        let lines = try await request(.get, "/v1/recordings/\(body.id)/readings").text.split(separator: "\n")
        #expect(lines.count == 30)
    }

    @Test func sameStretchTwice_isRefused() async throws {
        try await record(100, stored: 50)
        let from = bench.loop.wallNow + .seconds(-60)
        let asked = #"{"from":"\#(from)","to":"\#(from + .seconds(30))"}"#
        _ = try await request(.post, ServerBench.meter("/recordings"), asked)

        let again = try await request(.post, ServerBench.meter("/recordings"), asked)

        #expect(again.status == 409)
        #expect(again.text.contains("begins at the same moment"))
    }

    @Test(arguments: [
        #"{"from":"2026-11-21T13:40:05Z","to":"2026-11-21T13:40:05Z"}"#, #"{"from":"now","to":"then"}"#,
        #"{"from":"2026-11-21T13:40:06Z","to":"2026-11-21T13:40:05Z"}"#, #"{"to":"2026-11-21T13:40:05Z"}"#,
    ])
    func whatIsNoStretch_isNamed(asked: String) async throws {
        try await bench.plugIn()

        #expect(try await request(.post, ServerBench.meter("/recordings"), asked).status == 400)
    }

    @Test func timeWithoutReadings_isNoRecording() async throws {
        try await bench.plugIn()

        let answer = try await request(
            .post, ServerBench.meter("/recordings"), #"{"from":"2020-01-01T00:00:00Z","to":"2020-01-02T00:00:00Z"}"#)

        #expect(answer.status == 409)
        #expect(answer.text.contains("no readings of"))
    }

    @Test func export_isWhole_overPages_asCSVWithAFileName() async throws {
        try await record(2000, stored: 1500)

        let answer = try await request(.get, ServerBench.meter("/export\(query(secondsAgo: 3600))"))

        let lines = answer.text.split(separator: "\n")
        #expect(answer.status == 200)
        #expect(lines.first == "time,voltage_V,current_A")
        #expect(lines.count == 2001)
        #expect(Set(lines).count == 2001)
        #expect(lines.dropFirst().allSatisfy { $0.hasSuffix(",5.0,1.0") })
    }

    @Test func export_everySoOften_isMeans() async throws {
        try await record(120, stored: 60)

        let answer = try await request(
            .get, ServerBench.meter("/export\(query(secondsAgo: 3600))&every=60000&format=json"))

        let lines = answer.text.split(separator: "\n")
        #expect((2...3).contains(lines.count))
        #expect(lines.allSatisfy { $0.hasSuffix(#"Z","voltage_V":5.0,"current_A":1.0}"#) })
    }

    @Test func exportOfSeveral_hasOneLineForATime() async throws {
        try await record(100, stored: 50)
        let id = "\(ServerBench.id)"

        let answer = try await request(
            .get, "/v1/export\(query(secondsAgo: 3600))&every=1000&meter=\(id.percentEncoded)&meter=02000000250c")

        // Two names for one meter: both columns have its values.
        let lines = answer.text.split(separator: "\n")
        #expect(lines.first == "time,\(id).voltage_V,\(id).current_A,02000000250c.voltage_V,02000000250c.current_A")
        #expect(lines.count == 101)
        #expect(lines.dropFirst().allSatisfy { $0.hasSuffix(",5.0,1.0,5.0,1.0") })
    }

    @Test(arguments: [
        "/v1/export", "/v1/export?meter=a&meter=a&every=1000", "/v1/export?meter=a&meter=b",
        "/v1/meters/02000000250c/export?every=99", "/v1/meters/02000000250c/export?format=xlsx",
        "/v1/meters/02000000250c/export?from=2000&to=1000", "/v1/meters/02000000250c/stretch?from=yesterday",
    ])
    func badQuestions_areNamed(uri: String) async throws {
        try await bench.plugIn()

        let answer = try await request(.get, uri)

        #expect(answer.status == 400, "\(uri): \(answer.text)")
    }
}

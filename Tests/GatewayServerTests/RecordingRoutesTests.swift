import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import StoreTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RecordingRoutesTests {
    private let bench = ServerBench()

    private func request(_ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil) async throws -> Answer {
        return try await bench.request(
            method, uri, body,
            with: [RecordingRoutes(directory: bench.directory, recordings: bench.recordings, series: bench.series)])
    }

    /// Ten seconds of the demo's UM25C.
    private func record(name: String? = nil) async throws -> RecordingBody {
        try await bench.connect()
        let body = name.map { #"{"name":"\#($0)"}"# }
        _ = try await request(.post, ServerBench.meter("/recording"), body)
        bench.loop.advance(by: .seconds(10))
        return try await request(.delete, ServerBench.meter("/recording")).decode()
    }

    @Test func start_answersWithTheRecording_thatGoesOn() async throws {
        try await bench.connect()

        let answer = try await request(.post, ServerBench.meter("/recording"), #"{"name":"phone"}"#)

        #expect(answer.status == 200)
        let body = try answer.decode(RecordingBody.self)
        #expect(body.state == "running")
        #expect(body.trigger == "hand")
        #expect(body.name == "phone")
        #expect(body.mine)
        #expect(
            try answer.keys() == [
                "id", "meter", "name", "note", "host", "host_id", "mine", "state", "trigger", "end", "started", "until",
                "duration_ms", "recorded_ms", "readings", "charge_mAh", "energy_Wh", "meter_charge_mAh",
                "meter_energy_Wh", "voltage_V", "current_A", "power_W", "temperature_C", "gap_ms", "gap_count", "gaps",
                "marks", "overlaps", "imported", "told_at_start", "told_at_end",
            ])
        #expect(answer.text.contains(#""charge_mAh":null"#), "unknown is null")
    }

    @Test func cost_isThatOfTheMetersPresentTariff() async throws {
        // From now on sessions are informed of settings.
        try await bench.directory.restore()
        let body = try await record(name: "phone")
        #expect(body.cost == nil)

        _ = try await bench.directory.set(["tariff": "0.32 EUR"], for: "\(ServerBench.id)")
        let priced = try await request(.get, "/v1/recordings/phone").decode(RecordingBody.self)
        _ = try await bench.directory.set(["tariff": "64 ct"], for: "\(ServerBench.id)")
        let dearer = try await request(.get, "/v1/recordings").decode(RecordingsBody.self).recordings[0]

        let energy = try #require(body.energy_Wh)
        #expect(priced.cost == CostBody(of: energy, at: Tariff("0.32 EUR")))
        #expect(priced.cost?.per_kWh == 0.32)
        #expect(dearer.cost == CostBody(of: energy, at: Tariff("64 ct")))
        let status = try await request(.get, ServerBench.meter()).decode(MeterStatus.self)
        #expect(status.tariff == Tariff("64 ct"))
    }

    // MARK: - Battery tests

    private func start(_ body: String) async throws -> Answer {
        try await bench.request(
            .post, ServerBench.meter("/recording"), body,
            with: [
                RecordingRoutes(
                    directory: bench.directory, recordings: bench.recordings, series: bench.series, alerts: bench.alerts
                )
            ])
    }

    @Test func test_isARecording_withACutoff() async throws {
        try await bench.connect()

        let test = try await start(#"{"name":"cell","until":"voltage < 3V"}"#).decode(RecordingBody.self)
        bench.loop.advance(by: .seconds(5))
        let later = try await request(.get, "/v1/recordings/cell").decode(RecordingBody.self)

        #expect(test.state == "running")
        #expect(test.test?.until == "voltage < 3V for 10s")
        #expect(test.test?.quantity == "voltage_V")
        #expect(test.test?.armed == false && later.test?.armed == true)
    }

    @Test func testThatWaits_isListed_andCalledOff() async throws {
        try await bench.connect()

        let test = try await start(#"{"until":"current < 50mA for 1m","start_above":"50A"}"#).decode(RecordingBody.self)
        #expect(test.state == "waiting" && test.test?.start_above_A == 50)
        let all = try await request(.get, "/v1/recordings").decode(RecordingsBody.self).recordings
        #expect(all.map(\.state) == ["waiting"])
        let stopped = try await request(.delete, ServerBench.meter("/recording")).decode(RecordingBody.self)

        #expect(stopped.state == "ended" && stopped.end == "hand" && stopped.readings == 0)
        #expect(try await request(.get, "/v1/recordings").decode(RecordingsBody.self).recordings.isEmpty)
    }

    @Test(arguments: [
        (#"{"until":"volts < 3"}"#, "volts"), (#"{"until":"stale for 30s"}"#, "only a value above or below"),
        (#"{"until":"voltage < 3V","start_above":"5A"}"#, ""), (#"{"start_above":"1"}"#, "are of a battery test"),
        (#"{"until":"voltage < 3V","start_above":"5"}"#, "\"5\" is not a current"),
        (#"{"until":"voltage < 3"}"#, "3 has no unit"),
        (#"{"until":"voltage < 3V","start_above":"lots"}"#, "\"lots\" is not a current"),
        (#"{"until":"voltage < 3V","start_above":"-1A"}"#, "\"-1A\" is not a current"),
        (#"{"until":"voltage < 3V","notify":["phone"]}"#, "meterd.toml has no [notify.phone]"),
        (#"{"notify":["phone"]}"#, "are of a battery test"),
    ])
    func test_thatCannotBe_isRefused_withTheReason(body: String, reason: String) async throws {
        try await bench.connect()

        let answer = try await start(body)

        guard !reason.isEmpty else { return #expect(answer.status == 200) }
        #expect(answer.status == 400)
        #expect(answer.text.contains(reason.replacing("\"", with: "\\\"")), "\(answer.text)")
        #expect(bench.recorder.meters.all.allSatisfy { bench.recordings.track(for: $0).recording == nil })
    }

    @Test func stop_answersWithWhatItAddsUpTo() async throws {
        let body = try await record()

        #expect(body.state == "ended")
        #expect(body.end == "hand")
        #expect(body.readings >= 19)
        #expect(body.recorded_ms >= 9000 && body.recorded_ms <= 10_000)
        let current = try #require(body.current_A)
        #expect(current.min <= current.mean && current.mean <= current.max)
        let charge = try #require(body.charge_mAh)
        #expect((charge - current.mean * Double(body.recorded_ms) / 3600).magnitude < 0.01)
        #expect(body.gaps.isEmpty)
        #expect(body.marks.isEmpty)
    }

    @Test func secondStart_andSecondStop_areRefused() async throws {
        try await bench.connect()
        _ = try await request(.post, ServerBench.meter("/recording"))

        #expect(try await request(.post, ServerBench.meter("/recording")).error?.code == .refused)
        #expect(try await request(.delete, ServerBench.meter("/recording")).status == 200)
        #expect(try await request(.delete, ServerBench.meter("/recording")).status == 409)
    }

    @Test func list_isOfAll_orOfOneMeter() async throws {
        let body = try await record()

        let all = try await request(.get, "/v1/recordings").decode(RecordingsBody.self)
        let one = try await request(.get, "/v1/recordings?meter=02%3A00%3A00").decode(RecordingsBody.self)

        #expect(all.recordings.map(\.id) == [body.id])
        #expect(one == all)
        #expect(try await request(.get, "/v1/recordings?meter=other").status == 404)
    }

    @Test func recording_isFound_byIDAndName() async throws {
        let body = try await record(name: "my phone")

        #expect(try await request(.get, "/v1/recordings/\(body.id)").decode(RecordingBody.self) == body)
        #expect(try await request(.get, "/v1/recordings/my%20phone").decode(RecordingBody.self) == body)
        #expect(try await request(.get, "/v1/recordings/tablet").error?.code == .notFound)
        #expect(try await request(.get, "/v1/recordings/%ZZ").status == 400)
    }

    @Test func readings_areThoseOfItsTime_alsoBeforeTheyAreStored() async throws {
        let body = try await record()
        bench.loop.advance(by: .seconds(5))

        let answer = try await request(.get, "/v1/recordings/\(body.id)/readings")

        #expect(answer.contentType == "application/x-ndjson")
        let lines = try answer.text.split(separator: "\n").map {
            try JSONDecoder().decode(ReadingLine.self, from: Data($0.utf8))
        }
        #expect(lines.count == body.readings)
        #expect(lines.allSatisfy { $0.time >= body.started && $0.time <= body.until })
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.time <= $1.time })
    }

    @Test func readings_areCSVWhereAskedFor_withEachQuantityInItsColumn() async throws {
        let body = try await record()

        let answer = try await request(.get, "/v1/recordings/\(body.id)/readings?format=csv")

        #expect(answer.contentType == "text/csv")
        let lines = answer.text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("time,voltage_V,current_A,power_W") == true)
        #expect(lines.count == body.readings + 1)
        #expect(Set(lines.map { $0.count(where: { $0 == "," }) }).count == 1)
        #expect(lines.dropFirst().allSatisfy { $0.prefix(24) >= body.started && $0.prefix(24) <= body.until })
        #expect(try await request(.get, "/v1/recordings/\(body.id)/readings?format=xls").status == 400)
    }

    @Test func series_isOfItsTime() async throws {
        let body = try await record()

        let series = try await request(.get, "/v1/recordings/\(body.id)/series?points=100").decode(SeriesBody.self)

        #expect(series.start == body.started)
        #expect(series.series.keys.sorted() == ["current_A", "power_W", "voltage_V"])
        #expect(series.series["current_A"]?.max.compactMap(\.self).max() == body.current_A?.max)
        let means = try #require(series.series["power_W"]).mean.compactMap { $0 }
        #expect(means.allSatisfy { ($0 * 1e6).rounded() / 1e6 == $0 }, "no digits that no meter has")
    }

    @Test func readingsOfAnotherHost_areThere() async throws {
        try await bench.plugIn()
        let other = HostID(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)
        let recording = Recording(
            id: RecordingID(host: other, meter: ServerBench.id, token: 3, started: bench.loop.wallNow), trigger: .hand,
            end: .hand)
        let stamp = Stamp(milliseconds: 1, counter: 0, host: other)
        try bench.store.plant([
            SyncRecord(
                key: RecordKey(type: .recording, name: recording.id.recordName),
                properties: recording.properties.mapValues { Register(value: $0, stamp: stamp) })
        ])

        #expect(try await request(.get, "/v1/recordings/\(recording.id.short)").status == 200)
        for route in ["readings", "series"] {
            let answer = try await request(.get, "/v1/recordings/\(recording.id.short)/\(route)")
            #expect(answer.error?.code == .refused)
        }
    }

    @Test func unknownMeter_is404() async throws {
        #expect(try await request(.post, ServerBench.meter("/recording")).status == 404)
        #expect(try await request(.delete, ServerBench.meter("/recording")).status == 404)
    }
}

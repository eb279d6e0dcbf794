import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import HummingbirdTesting
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ImportRoutesTests {
    private let bench = ServerBench()

    private func send(
        _ text: String, _ query: String = "", to path: String? = nil, storeBytesMax: Int64 = 1 << 30
    ) async throws -> Answer {
        try await request(
            .post, (path ?? ServerBench.meter("/imports")) + query, text,
            bench.imports(storeBytesMax: storeBytesMax))
    }

    private func request(
        _ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil, _ imports: ImportService? = nil
    ) async throws -> Answer {
        try await bench.request(
            method, uri, body,
            with: [
                ImportRoutes(
                    directory: bench.directory, imports: imports ?? bench.imports(), loop: bench.loop,
                    zoneOffset: { _ in .seconds(3600) }, zoneFile: { _ in nil }),
                RecordingRoutes(directory: bench.directory, recordings: bench.recordings, series: bench.series),
                StretchRoutes(
                    directory: bench.directory, series: bench.series, recordings: bench.recordings, marks: bench.marks),
            ])
    }

    /// One reading a second, so many, from a day ago on.
    private func table(_ count: Int) -> String {
        let start = bench.loop.wallNow + .seconds(-86_400)
        let lines = (0..<count).map { "\(start + .seconds($0)),5,1,\($0.isMultiple(of: 3) ? "" : "24.5")" }
        return "time,voltage_V,current_A,temperature_C\n" + lines.joined(separator: "\n") + "\n"
    }

    @Test func file_becomesARecording_thatIsLikeAnyOther_andStandsApart() async throws {
        try await bench.plugIn()

        let body = try await send(table(721), "?name=phone").decode(ImportBody.self)

        #expect(body.format == "csv")
        #expect(body.lines == 722)
        let recording = body.recording
        #expect(recording.name == "phone")
        #expect(recording.imported == "csv")
        #expect(recording.marks == ["imported"])
        #expect(recording.mine)
        #expect(recording.state == "ended")
        #expect(recording.readings == 721)
        #expect(((recording.charge_mAh ?? 0) - 200).magnitude < 1e-6)
        #expect(recording.gap_count == 0)
        let listed = try await request(.get, "/v1/recordings?meter=\(ServerBench.id.description.percentEncoded)")
            .decode(RecordingsBody.self)
        #expect(listed.recordings == [recording])
        let series = try await request(.get, "/v1/recordings/phone/series").decode(SeriesBody.self)
        #expect(series.t_ms.count == 721)
        // Nothing of it is in what was measured here.
        let stretch = try await request(.get, ServerBench.meter("/stretch?from=0")).decode(StretchBody.self)
        #expect(stretch.readings == 0)
    }

    @Test func exportOfAnImport_isTheSameBytes() async throws {
        try await bench.plugIn()
        let text = table(3000)
        _ = try await send(text, "?name=first")
        let lines = try await request(.get, "/v1/recordings/first/readings").text
        _ = try await request(.delete, "/v1/recordings/first")

        let again = try await send(lines, "?name=second").decode(ImportBody.self)

        #expect(again.format == "json")
        #expect(try await request(.get, "/v1/recordings/second/readings").text == lines)
        #expect(lines.split(separator: "\n").count == 3000)
    }

    @Test func whatTheMeterTold_isInTheFirstLineAndTheLast_andComesBack() async throws {
        try await bench.plugIn()
        let start = bench.loop.wallNow + .seconds(-86_400)
        func told(_ mode: String) -> String {
            #""told":{"details":{"charging_mode":"\#(mode)","fast":true,"second_protocol":null,"step":2.5},"#
                + #""groups":[{"charge_mAh":12,"energy_Wh":0.5,"index":3}]},"#
        }
        let parts = [told("DCP"), "", told(#"QC \"3\""#)]
        let lines = parts.enumerated().map { number, told in
            #"{"current_A":1,"time":"\#(start + .seconds(number))",\#(told)"voltage_V":5}"# + "\n"
        }

        let body = try await send(lines.joined(), "?name=phone").decode(ImportBody.self)

        #expect(body.recording.told_at_start?.details["charging_mode"] == .text("DCP"))
        #expect(body.recording.told_at_start?.details["second_protocol"] == .unknown)
        #expect(body.recording.told_at_end?.details["charging_mode"] == .text(#"QC "3""#))
        #expect(body.recording.told_at_end?.groups == [.init(index: 3, charge_mAh: 12, energy_Wh: 0.5)])
        #expect(try await request(.get, "/v1/recordings/phone/readings").text == lines.joined())
    }

    @Test func sameFileTwice_isSaid_andTheFirstStays() async throws {
        try await bench.plugIn()
        _ = try await send(table(2000), "?name=phone")

        let answer = try await send(table(2000))

        #expect(answer.status == 409)
        #expect(answer.error?.message.contains("a file with the same readings was imported") == true)
        #expect(answer.error?.message.contains("\"phone\"") == true)
        #expect(try await request(.get, "/v1/recordings/phone/readings").text.split(separator: "\n").count == 2000)
    }

    /// Files whose times count from a start may have the same one, and are two files.
    @Test func otherFileOfTheSameMoment_isAnotherRecording() async throws {
        try await bench.plugIn()
        let first = try await send(table(2000), "?name=phone").decode(ImportBody.self)

        let second = try await send(table(3000), "?name=tablet").decode(ImportBody.self)

        #expect(second.recording.started == first.recording.started && second.recording.id != first.recording.id)
        for (name, count) in [("phone", 2000), ("tablet", 3000)] {
            let lines = try await request(.get, "/v1/recordings/\(name)/readings").text.split(separator: "\n")
            #expect(lines.count == count)
        }
        #expect(try await send(table(3000)).status == 409)
        _ = try await request(.delete, "/v1/recordings/tablet")
        #expect(try await request(.get, "/v1/recordings/phone/readings").text.split(separator: "\n").count == 2000)
    }

    @Test func deletedImport_takesItsReadingsAlong() async throws {
        try await bench.plugIn()
        _ = try await send(table(2000), "?name=phone")
        #expect(try await !bench.store.importStretches().isEmpty)

        _ = try await request(.delete, "/v1/recordings/phone")

        #expect(try await bench.store.importStretches().isEmpty)
    }

    @Test func forgottenMeter_withItsReadings_takesThoseOfItsFilesAlong() async throws {
        try await bench.plugIn()
        _ = try await send(table(2000), "?name=phone")

        let gone = try await request(.delete, ServerBench.meter("?readings=true")).decode(ForgottenMeter.self)

        #expect(gone.readings == 2000)
        #expect(try await bench.store.importStretches().isEmpty)
    }

    @Test func wrongLine_isNamed_andNothingStays() async throws {
        try await bench.plugIn()
        // Far enough in that much of it was stored already.
        let text = table(50_000) + "2026-11-21T13:40:05Z,abc,1,\n"
        let writes = bench.access.writes

        let answer = try await send(text)

        #expect(answer.status == 400)
        #expect(
            answer.error?.message.hasPrefix(
                "line 50002, column voltage_V: \"abc\" is not a number; 50000 readings were read") == true)
        #expect(answer.error?.message.hasSuffix("nothing was imported") == true)
        #expect(try await bench.store.importStretches().isEmpty)
        #expect(bench.access.writes > writes)
        #expect(try await request(.get, "/v1/recordings").decode(RecordingsBody.self).recordings.isEmpty)
        // And the next one finds nothing in its way.
        #expect(try await send(table(10)).status == 200)
    }

    @Test func fullDisk_isSaid_andNothingStays() async throws {
        try await bench.plugIn()
        bench.access.failWrites(with: StoreError(.diskFull, "no room on the disk"))

        let answer = try await send(table(50_000))

        #expect(answer.status == 500)
        #expect(answer.error?.message.contains("no room on the disk") == true)
        bench.access.failWrites(with: nil)
        try await bench.imports().restore()
        #expect(try await bench.store.importStretches().isEmpty)
        #expect(try await request(.get, "/v1/recordings").decode(RecordingsBody.self).recordings.isEmpty)
    }

    @Test func whatAnInterruptedImportLeft_goesAtTheNextStart_andOtherImportsStay() async throws {
        try await bench.plugIn()
        _ = try await send(table(10), "?name=phone")
        let kept = try await bench.store.importStretches()
        let left = MeterID.port(host: bench.recordings.host.description, path: "import/half/0/1")
        var builder = SampleChunkBuilder(meter: left)
        builder.append(bench.loop.wallNow, Reading())
        try await bench.store.append([try #require(builder.finish())])
        #expect(try await bench.store.importStretches().contains(left))

        try await bench.imports().restore()

        #expect(try await bench.store.importStretches() == kept)
        let lines = try await request(.get, "/v1/recordings/phone/readings").text.split(separator: "\n")
        #expect(lines.count == 10)
    }

    @Test func fileThatWouldCrowdOutReadings_isRefused() async throws {
        try await bench.plugIn()

        let answer = try await send(table(5000), storeBytesMax: 1000)

        #expect(answer.status == 409)
        #expect(answer.error?.message.contains("a quarter of the store's limit") == true)
        #expect(try await bench.store.importStretches().isEmpty)
    }

    @Test func slowFile_hasNoGapsBetweenItsReadings() async throws {
        try await bench.plugIn()
        let start = bench.loop.wallNow + .seconds(-86_400)
        let lines = (0..<60).map { "\(start + .seconds($0 * 60)),5,1" }

        let body = try await send("time,voltage_V,current_A\n" + lines.joined(separator: "\n") + "\n").decode(
            ImportBody.self)

        #expect(body.recording.gap_count == 0)
        #expect(((body.recording.charge_mAh ?? 0) - 1000 * 59 / 60).magnitude < 1e-6)
    }

    @Test func timeWithoutAZone_isTakenInTheOneThatIsSaid() async throws {
        try await bench.plugIn()
        let text = "Time,Voltage (V),Current (A),Mood\n2020-05-01 12:00:00,5,1,x\n2020-05-01 12:00:01,5,1,x\n"

        let unsaid = try await send(text)
        let local = try await send(text, "?time_zone=local").decode(ImportBody.self)
        let other = try await send(text, "?time_zone=-05:30").decode(ImportBody.self)

        #expect(unsaid.status == 400)
        #expect(unsaid.error?.next.contains("--zone") == true)
        #expect(local.recording.started == "2020-05-01T11:00:00.000Z")
        #expect(other.recording.started == "2020-05-01T17:30:00.000Z")
        #expect(other.columns_left_out == ["Mood"])
        #expect(try await send(text, "?time_zone=Berlin").status == 400)
    }

    /// A UM25C knows 24 V, and an FNB58 7 A; of a meter that nobody knows, what any measures.
    @Test(
        arguments: [
            (nil, [5, 188], 1), ("usb:2e3c:5558:x", [5, 188], 1), ("usb:2e3c:5558:x", [5, 100], 0),
            ("usb:0483:5740:x", [5, 188], 0),
        ] as [(String?, [Int], Int)])
    func valuesAreJudged_byTheMetersModel(meter: String?, volts: [Int], leftOut: Int) async throws {
        try await bench.plugIn()
        let lines = volts.enumerated().map { "\(1_588_000_000 + $0),\($1 * 1000),1" }
        let text = "stamp,a1,a2\n" + lines.joined(separator: "\n") + "\n"

        let body = try await send(
            text, "?column=time%3Dstamp&column=voltage%3Da1:mV&column=current%3Da2",
            to: meter.map { "/v1/meters/\($0.percentEncoded)/imports" }
        ).decode(ImportBody.self)

        #expect(body.format == "table" && body.lines_left_out == leftOut)
        #expect(body.recording.readings == Int64(2 - leftOut))
        #expect(
            body.remarks.count == leftOut && body.remarks.allSatisfy { $0.hasPrefix("line 3 is left out: voltage") })
    }

    /// A packet's samples as fnirsi_logger.py prints them, of which single ones cannot be, or as another logger does.
    /// An FNB58's filter judges them as it would live; the setting of the meter counts.
    @Test(
        arguments: [
            ("usb:2e3c:5558:x", "sample_in_packet", true, 3), ("usb:2e3c:5558:x", "sample_in_packet", false, 0),
            ("usb:2e3c:5558:x", "n", true, 3), ("usb:0483:5740:x", "n", true, 0),
        ])
    func singleImpossibleSamples_areFilteredAsLive(meter: String, column: String, isOn: Bool, count: Int) async throws {
        try await bench.plugIn()
        let id = try #require(MeterID(meter))
        if !isOn { _ = try await bench.settings.set(["filter": "off"], of: id, for: nil) }
        // 0 V while a current flows, and a current that is too large; a step of two samples stays, and the last one is unconfirmed.
        let samples = [(5.0, 1.0), (5, 1), (0, 1), (5, 1), (5, 1), (5, 4), (5, 1), (9, 1), (9, 1), (9, 1), (0, 0)]
        let lines = samples.enumerated().map { place, sample in
            "1588000000.\(place < 10 ? "0" : "")\(place)0 \(place % 4) \(sample.0) \(sample.1)\n"
        }
        let text = "timestamp \(column) voltage_V current_A\n" + lines.joined()

        let body = try await send(text, to: "/v1/meters/\(meter.percentEncoded)/imports").decode(ImportBody.self)

        #expect(body.filtered_samples == count)
        #expect(body.recording.readings == (count > 0 ? 10 : 11))
        #expect(body.recording.voltage_V?.min == (count > 0 ? 5 : 0))
        #expect(body.recording.current_A?.max == (count > 0 ? 1 : 4))
        #expect(body.recording.voltage_V?.max == 9)
        let said =
            "3 single impossible samples were left out or replaced by a neighbour, the first at 2020-04-27T15:06:40.020Z"
        #expect(body.remarks.contains { $0.hasPrefix(said) } == (count > 0))
    }

    @Test func meterThatNobodyKnows_isTakenByItsWholeIDAlone() async throws {
        let path = "/v1/meters/00%3A15%3AA3%3A00%3A4C%3A1F/imports"

        #expect(try await send(table(3), to: path).decode(ImportBody.self).recording.meter == "00:15:A3:00:4C:1F")
        #expect(try await send(table(3), to: "/v1/meters/nobody/imports").status == 404)
    }

    @Test(arguments: ["?as=xml", "?name=\(String(repeating: "n", count: 65))", "?start=noon", "?of=charger"])
    func whatIsWronglyAsked_isNamed(query: String) async throws {
        try await bench.plugIn()

        let answer = try await send(table(3), query)

        #expect(answer.status == 400)
        #expect(try await bench.store.importStretches().isEmpty)
    }

    // MARK: Over a socket

    private func withSocket(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let routes = ImportRoutes(
            directory: bench.directory, imports: bench.imports(), loop: bench.loop, zoneOffset: { _ in .zero },
            zoneFile: { _ in nil })
        try await Application(router: bench.routes.router(with: [routes])).test(.live) { client in
            let port = try #require(client.port)
            try await body(port)
        }
    }

    private func head(_ length: Int) -> String {
        "POST \(ServerBench.meter("/imports")) HTTP/1.1\r\nhost: meterd\r\ncontent-length: \(length)\r\n\r\n"
    }

    @Test func clientThatHangsUp_leavesNothing() async throws {
        try await bench.plugIn()
        let text = table(40_000)

        try await withSocket { [bench] port in
            do {
                let socket = try RawSocket(port: port)
                try socket.send(head(text.utf8.count * 2) + text)
                try await eventually("some of it is stored") { try await !bench.store.importStretches().isEmpty }
            }
            try await eventually("all of it is gone") { try await bench.store.importStretches().isEmpty }
        }

        #expect(try await bench.store.importStretches().isEmpty)
        #expect(try await bench.recordings.recordings().isEmpty)
    }

    @Test func clientThatSendsNoMore_isNotWaitedForForLong() async throws {
        try await bench.plugIn()
        let text = table(100)

        try await withSocket { [bench] port in
            let socket = try RawSocket(port: port)
            try socket.send(head(text.utf8.count * 2) + text)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let patience = Patience("the server has enough")
                    while !Task.isCancelled {
                        bench.loop.advance(by: .seconds(1))
                        try await patience.turn()
                    }
                }
                defer { group.cancelAll() }
                let answer = try await socket.receive(until: "send it again")
                #expect(answer.hasPrefix("HTTP/1.1 504"))
            }
        }

        #expect(try await bench.store.importStretches().isEmpty)
    }
}

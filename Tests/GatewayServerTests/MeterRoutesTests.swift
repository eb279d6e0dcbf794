import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import HummingbirdTesting
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MeterRoutesTests {
    private let bench = ServerBench()

    // MARK: - Answers

    @Test func version_isWhatTheProgramIs() async throws {
        let answer = try await bench.request(.get, "/v1/version")

        #expect(answer.status == 200)
        #expect(answer.contentType == "application/json; charset=utf-8")
        #expect(answer.text == #"{"build":"release","commit":"abc1234","version":"1.2.3"}"#)
    }

    @Test func status_isEmpty_beforeAnyMeter() async throws {
        let answer = try await bench.request(.get, "/v1/status")

        #expect(
            answer.text
                == #"{"adapters":[],"alerts_raised":0,"meters":[],"store":{"backup":null,"crowding":null,"dropped":0,"error":null,"#
                + #""path":"/var/lib/meterd/meterd.sqlite","saved":0,"unsaved":0}}"#)
    }

    @Test func support_tellsOfMeters_andThatThereIsNoRadio() async throws {
        try await bench.plugIn()

        let answer = try await bench.request(
            .get, "/v1/support", with: [SupportRoutes(directory: bench.directory, nodes: { ScanNodes() })])

        #expect(
            answer.text
                == #"{"meters":[{"gatt":null,"id":"02:00:00:00:25:0C","model":"UM25C","state":"not-connected","#
                + #""traffic":[],"transitions":[{"age_ms":0,"cause":"device present at /dev/ttyUSB0","#
                + #""from":"offline","to":"not-connected"}],"transport":"serial"}],"radios":null}"#)
    }

    @Test func meterWithoutAReading_hasNulls_andNoMissingKeys() async throws {
        try await bench.plugIn()

        let answer = try await bench.request(.get, ServerBench.meter())

        #expect(
            answer.text
                == #"{"age_ms":null,"counters":{"connects":0,"disconnects":0,"readings":0,"rejected":0,"#
                + #""resynchronisations":0,"skipped_bytes":0,"timeouts":0},"device":null,"error":null,"#
                + #""id":"02:00:00:00:25:0C","lease":{"holder":null,"holder_id":null,"policy":null,"#
                + #""read_only":null,"remaining_ms":null,"since":null,"state":"none","token":null,"transport":null,"waiting":[]},"#
                + #""local_only":false,"model":"UM25C","name":null,"#
                + #""poll_interval_ms":500,"port":"/dev/ttyUSB0","reading":null,"retry_in_ms":null,"#
                + #""rssi":null,"searching_ms":null,"since":"2026-05-28T20:26:40.000Z","state":"not-connected","transport":"serial","#
                + #""transports":["serial"],"wanted":false}"#)
    }

    @Test func meterWithData_hasItsReading_withUnitsInTheKeys() async throws {
        try await bench.connect()

        let answer = try await bench.request(.get, ServerBench.meter())

        let status = try answer.decode(MeterStatus.self)
        #expect(status.state == "data-available")
        #expect(status.age_ms == 480)
        #expect(status.counters.readings == 2)
        let voltage = try #require(status.reading?.reading[.voltage])
        #expect((4.9...5.13).contains(voltage))
        #expect(
            try answer.keys(of: "reading") == [
                "voltage_V", "current_A", "power_W", "energy_Wh", "charge_mAh", "temperature_C", "dp_V", "dn_V",
                "resistance_ohm", "counted_energy_Wh", "counted_charge_mAh",
            ])
    }

    /// A slip of the pen must not forget a meter.
    @Test func forgetting_isRefused_whereTheQueryIsNeitherTrueNorFalse() async throws {
        try await bench.plugIn()

        let answer = try await bench.request(.delete, ServerBench.meter("?readings=yes"))

        #expect(answer.status == 400)
        #expect(answer.error?.message.hasSuffix("readings cannot be \"yes\"; it takes true or false") == true)
        #expect(try await bench.request(.get, ServerBench.meter()).status == 200)
    }

    @Test func scan_listsWhatIsThere() async throws {
        #expect(try await bench.request(.get, "/v1/scan").text == "[]")

        try await bench.plugIn()

        #expect(
            try await bench.request(.get, "/v1/scan").text
                == #"[{"adapter":null,"flags":[],"holder":null,"id":"02:00:00:00:25:0C","model":"UM25C","name":null,"#
                + #""port":"/dev/ttyUSB0","rssi":null,"state":"not-connected","transport":"serial","#
                + #""transports":["serial"]}]"#)
    }

    @Test(arguments: ["", "{}", #"{"wait_ms":null}"#])
    func connect_returnsAtOnce_withoutAWait(body: String) async throws {
        try await bench.plugIn()

        let answer = try await bench.request(.post, ServerBench.meter("/connect"), body)

        #expect(answer.status == 200)
        let status = try answer.decode(MeterStatus.self)
        #expect(status.wanted)
        #expect(status.state == "connecting")
    }

    @Test func connect_waitsForNothing_whereThereIsData() async throws {
        try await bench.connect()

        let answer = try await bench.request(.post, ServerBench.meter("/connect"), #"{"wait_ms":60000}"#)

        #expect(try answer.decode(MeterStatus.self).state == "data-available")
    }

    @Test func disconnect_letsGo() async throws {
        try await bench.connect()

        let status = try await bench.request(.post, ServerBench.meter("/disconnect")).decode(MeterStatus.self)

        #expect(status.state == "not-connected")
        #expect(!status.wanted)
        #expect(bench.links.openChannels == 0)
    }

    @Test func meter_mayBeAPath_withItsSlashesEncoded() async throws {
        bench.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: "/dev/rfcomm 0%")

        let connected = try await bench.request(
            .post, "/v1/meters/%2Fdev%2Frfcomm%200%25/connect", #"{"model":"um25c"}"#)
        let status = try connected.decode(MeterStatus.self)
        #expect(status.id == "port:pi:/dev/rfcomm 0%")
        #expect(status.local_only)

        let again = try await bench.request(.get, "/v1/meters/port%3api%3a%2fdev%2frfcomm%200%25")
        #expect(try again.decode(MeterStatus.self).id == status.id)
    }

    @Test func settings_areWrittenAndRead_andNullTakesOneBack() async throws {
        try await bench.directory.restore()
        try await bench.plugIn()
        let route = ServerBench.meter("/settings")
        let empty = try await bench.request(.get, route).decode(SettingsBody.self)
        #expect(empty.settings == [:])
        #expect(empty.known == MeterSettings.Key.allCases.map(\.rawValue))

        let written = try await bench.request(.patch, route, #"{"settings":{"name":"Bench","poll-interval":"2s"}}"#)
        #expect(written.text == #"{"settings":{"name":"Bench","poll-interval":"2s"}}"#)
        let read = try await bench.request(.get, "/v1/meters/bench/settings").decode(SettingsBody.self)
        #expect(read.settings == ["name": "Bench", "poll-interval": "2s"])

        let reset = try await bench.request(.patch, route, #"{"settings":{"name":null}}"#)
        #expect(reset.text == #"{"settings":{"poll-interval":"2s"}}"#)
    }

    @Test func settings_haveTheirDefaults_andTheirOrigin() async throws {
        try await bench.directory.restore()
        try await bench.plugIn()
        let route = ServerBench.meter("/settings")
        _ = try await bench.request(.patch, route, #"{"settings":{"poll-interval":"2s","brightness":"3"}}"#)
        _ = try await bench.request(.patch, route, #"{"settings":{"brightness":null}}"#)

        let details = try #require(try await bench.request(.get, route).decode(SettingsBody.self).details)
        func detail(_ key: String) throws -> SettingBody { try #require(details.first { $0.key == key }) }

        // A UM25C has no clock of its own to sample by, and no known faults to filter.
        #expect(
            details.map(\.key)
                == MeterSettings.Key.allCases.map(\.rawValue).filter { !["rate", "filter"].contains($0) })
        let interval = try detail("poll-interval")
        #expect(interval.value == "2s" && interval.default == "500ms" && interval.origin == .here)
        #expect(interval.at?.hasPrefix("20") == true)
        let stale = try detail("stale-after")
        #expect(stale.value == nil && stale.default == "6s" && stale.origin == .standard && stale.at == nil)
        let brightness = try detail("brightness")
        #expect(brightness.value == nil && brightness.origin == .standard && brightness.at != nil)
        #expect(brightness.values == ["0", "1", "2", "3", "4", "5"] && brightness.command == "brightness")
        #expect(brightness.legal == "a whole number from 0 to 5")
        #expect(try detail("temperature-unit").values == ["C", "F"])
        #expect(try detail("record-hold").default == "10s")
        #expect(try detail("record-gap").default == "10m")
    }

    @Test func modelIsAHandle_andTypingErrorsHaveTheirWord() async throws {
        try await bench.plugIn()

        #expect(try await bench.request(.get, "/v1/meters/um25c").decode(MeterStatus.self).model == "UM25C")
        let wrong = try await bench.request(.get, "/v1/meters/um52c")
        #expect(wrong.error?.next == "did you mean UM25C? meterctl scan lists the meters that are there")
        let key = try await bench.request(.patch, "/v1/meters/um25c/settings", #"{"settings":{"brigthness":"3"}}"#)
        #expect(key.error?.next.hasPrefix("did you mean brightness? The settings are name, ") == true)
        let command = try await bench.request(.post, "/v1/meters/um25c/commands", #"{"command":"clear-gruop"}"#)
        #expect(command.error?.next.hasPrefix("did you mean clear-group? UM25C takes next-screen, ") == true)
    }

    @Test func answer_callsTheMeter_whatThePersonDid() async throws {
        try await bench.plugIn()

        let answer = try await bench.request(.post, "/v1/meters/um25c/commands", #"{"command":"rotate"}"#)

        #expect(answer.error?.message == "um25c is not-connected, so it takes no command")
        #expect(answer.error?.next == "meterctl connect um25c")
    }

    @Test func command_reachesTheMeter() async throws {
        try await bench.connect()
        bench.loop.advance(by: .milliseconds(100))

        let answer = try await bench.request(
            .post, ServerBench.meter("/commands"), #"{"command":"brightness","number":3}"#)

        #expect(answer.status == 200)
        #expect(try answer.decode(MeterStatus.self).id == "02:00:00:00:25:0C")
        #expect(bench.links.written(to: ServerBench.path).last == 0xD3)
    }

    @Test func commands_areThoseOfTheModel_withTheirConsequences() async throws {
        try await bench.plugIn()

        let answer = try await bench.request(.get, ServerBench.meter("/commands"))
        let body = try answer.decode(CommandsBody.self)

        #expect(body.meter == "02:00:00:00:25:0C")
        #expect(body.model == "UM25C")
        #expect(
            body.commands.first { $0.command == "brightness" }
                == CommandBody(.brightness, numbers: 0...5, step: 1, setting: "brightness"))
        #expect(body.commands.first { $0.command == "record-threshold" }?.setting == "threshold")
        #expect(body.commands.filter { $0.consequence != nil }.map(\.command) == ["clear-group", "reset-energy"])
    }

    // MARK: - Errors

    private func expect(
        _ answer: Answer, _ status: Int, _ code: ErrorCode, _ message: String, _ next: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == status, sourceLocation: sourceLocation)
        #expect(answer.contentType == "application/json; charset=utf-8", sourceLocation: sourceLocation)
        #expect(
            answer.error == ErrorBody(code: code, message: message, next: next), "\(answer.text)",
            sourceLocation: sourceLocation)
    }

    @Test func unknownMeter_is404() async throws {
        for (method, rest) in [
            (HTTPRequest.Method.get, ""), (.post, "/disconnect"), (.get, "/settings"), (.get, "/readings"),
        ] {
            expect(
                try await bench.request(method, "/v1/meters/bench\(rest)"), 404, .noSuchMeter,
                "no meter is called \"bench\"", "meterctl scan lists the meters that are there")
        }
    }

    @Test func ambiguousMeter_is409_withTheCandidates() async throws {
        try await bench.plugIn()
        try await bench.directory.declare(
            DeclaredPort(.serial(path: "/dev/rfcomm0"), model: .um25c, id: .mac(MACAddress(bits: 0x0200_0000_250D))))

        expect(
            try await bench.request(.get, "/v1/meters/02"), 409, .ambiguousMeter,
            "\"02\" may mean 02:00:00:00:25:0C, 02:00:00:00:25:0D", "type more of the id or name")
    }

    @Test func commandToAMeterThatIsNotConnected_is409() async throws {
        try await bench.plugIn()

        expect(
            try await bench.request(.post, ServerBench.meter("/commands"), #"{"command":"rotate"}"#), 409,
            .notConnected, "02:00:00:00:25:0C is not-connected, so it takes no command",
            "meterctl connect 02:00:00:00:25:0C")
    }

    @Test func meterWithoutModel_is422() async throws {
        let sighting = Sighting(id: ServerBench.id, model: nil, name: nil, link: .serial(path: ServerBench.path))
        await bench.directory.handle(.appeared(sighting))

        expect(
            try await bench.request(.post, ServerBench.meter("/connect")), 422, .modelUnknown,
            "the model of 02:00:00:00:25:0C is unknown",
            "name its port and model: meterctl connect /dev/… --model MODEL")
    }

    @Test func waitThatIsOver_is504() async throws {
        try await bench.plugIn()
        bench.links.refuse(ServerBench.path, with: ChannelFailure(.busy, "somebody has it"))

        let answering = Task { try await bench.request(.post, ServerBench.meter("/connect"), #"{"wait_ms":3000}"#) }
        let answer = try await bench.loop.advance(until: answering)

        #expect(answer.status == 504)
        #expect(answer.error?.code == .timedOut)
        #expect(answer.error?.message.hasSuffix("without data after 3s: somebody has it") == true)
    }

    @Test func storeThatFails_is500_withTheStoresWords() async throws {
        let bench = ServerBench(repository: FailingRepository())
        try await bench.plugIn()

        expect(
            try await bench.request(.get, ServerBench.meter("/settings")), 500, .store,
            "reading the settings of 02:00:00:00:25:0C: no space is left in /var/lib/meterd", "nothing stored was lost")
    }

    @Test func connectDuringTheShutdown_is503() async throws {
        try await bench.plugIn()
        await bench.directory.shutdown()

        expect(
            try await bench.request(.post, ServerBench.meter("/connect")), 503, .shuttingDown, "meterd is stopping",
            "try again once it runs")
    }

    @Test func unknownCommand_is400_withThoseThatExist() async throws {
        try await bench.connect()

        let answer = try await bench.request(.post, ServerBench.meter("/commands"), #"{"command":"explode"}"#)

        #expect(answer.status == 400)
        #expect(answer.error?.code == .badRequest)
        #expect(answer.error?.message == "no command is called explode")
        #expect(answer.error?.next.hasPrefix("UM25C takes next-screen, ") == true)
    }

    @Test func illegalSetting_is400_withWhatIsLegal() async throws {
        try await bench.plugIn()

        expect(
            try await bench.request(.patch, ServerBench.meter("/settings"), #"{"settings":{"poll-interval":"often"}}"#),
            400, .badRequest, "poll-interval cannot be \"often\"",
            "it takes a time from 10ms to 1h, such as 500ms, 2s or 1m")
    }

    @Test(arguments: [
        ("{", "it is not valid JSON"), ("[]", "the whole has the wrong type"), ("{}", "command is missing"),
        (#"{"command":7}"#, "command has the wrong type"),
        (#"{"command":"rotate","number":"x"}"#, "number has the wrong type"),
        ("\u{FF}", "it is not valid JSON"),
    ])
    func brokenBody_is400_andSaysWhere(body: String, words: String) async throws {
        try await bench.connect()

        expect(
            try await bench.request(.post, ServerBench.meter("/commands"), body), 400, .badRequest,
            "the request's JSON cannot be read: \(words)",
            "see Docs/meterd-openapi.yaml for what /v1/meters/02%3A00%3A00%3A00%3A25%3A0C/commands takes")
    }

    @Test func oversizedBody_is413() async throws {
        try await bench.plugIn()
        let body = #"{"settings":{"notes":""# + String(repeating: "x", count: 70_000) + #""}}"#

        expect(
            try await bench.request(.patch, ServerBench.meter("/settings"), body), 413, .badRequest,
            "the request's body is longer than 65536 bytes",
            "see Docs/meterd-openapi.yaml for what /v1/meters/02%3A00%3A00%3A00%3A25%3A0C/settings takes")
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/"), (.get, "/v1"), (.get, "/v2/status"), (.get, "/v1/meters/a/b/c"),
    ])
    func unknownRoute_is404_inTheSameForm(method: HTTPRequest.Method, path: String) async throws {
        let answer = try await bench.request(method, path)

        #expect(answer.status == 404)
        #expect(answer.error?.code == .notFound)
        #expect(answer.error?.message.hasPrefix("\(method) \(path):") == true)
    }

    @Test(arguments: [
        (HTTPRequest.Method.post, "/v1/status", "GET"), (.trace, "/v1/meters/a", "DELETE, GET"),
        (.put, "/v1/meters/a/settings", "GET, PATCH"),
    ])
    func wrongMethod_is405_andSaysWhichThereAre(
        method: HTTPRequest.Method, path: String, allowed: String
    ) async throws {
        let answer = try await bench.request(method, path)

        #expect(answer.status == 405)
        #expect(answer.allow == allowed)
        #expect(answer.error?.code == .notFound)
        #expect(answer.error?.message == "\(method) \(path): it takes \(allowed)")
    }

    /// Whatever somebody sent, the answer is short, and the end of it is there.
    @Test(arguments: [
        (HTTPRequest.Method.get, "/v1/%@", nil, "Not Found"),
        (.put, "/v1/meters/%@/settings", nil, "it takes GET, PATCH"),
        (.get, "/v1/meters/%@", nil, "\""), (.get, "/v1/meters/%%@", nil, "\" is not properly percent-encoded"),
        (.post, ServerBench.meter("/commands"), #"{"command":"%@"}"#, "xxx"),
        (.patch, ServerBench.meter("/settings"), #"{"settings":{"poll-interval":"%@"}}"#, "\""),
    ])
    func endlessText_isNotEchoedWhole(
        method: HTTPRequest.Method, path: String, body: String?, end: String
    ) async throws {
        try await bench.connect()
        func filled(_ text: String) -> String { text.replacing("%@", with: String(repeating: "x", count: 20_000)) }

        let answer = try await bench.request(method, filled(path), body.map(filled))

        let error = try #require(answer.error)
        #expect(error.message.utf8.count <= 2000 && error.next.utf8.count <= 2000)
        #expect(error.message.hasSuffix(end), "\(error.message)")
    }

    @Test(arguments: ["%", "%2", "%zz", "%ff%fe"])
    func brokenPercentEncoding_is400(reference: String) async throws {
        let answer = try await bench.request(.get, "/v1/meters/\(reference)")

        #expect(answer.status == 400)
        #expect(answer.error?.code == .badRequest)
        #expect(answer.error?.message == "\"\(reference)\" is not properly percent-encoded")
    }
}

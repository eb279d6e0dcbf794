import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterCodec
import MeterTestKit
import Testing
import YAMLDocument

/// Holds Docs/meterd-openapi.yaml against the program: its routes, its bodies, its words.
struct MeterdOpenAPITests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/meterd-openapi.yaml")

    /// These `WebResponder` answers by itself.
    private static let pageRoutes = [
        "DELETE /v1/session", "GET /v1/session", "POST /v1/session", "GET /power/{secret}", "GET /profile/{secret}",
    ]

    private let document: YAML

    init() throws { document = try YAMLReader.read(try String(contentsOf: Self.file, encoding: .utf8)) }

    // MARK: Routes

    @Test func document_hasEveryRouteOfTheControlSocket_andNoOther() throws {
        #expect(documented(on: "socket") == routes(of: Self.routes.controlRouter(page: nil)))
    }

    @Test func document_hasEveryRouteOfThePage_andNoOther() throws {
        let own = routes(of: Self.routes.pageRouter())

        #expect(documented(on: "page") == (own + Self.pageRoutes).sorted())
    }

    @Test func operations_haveNamesOfTheirOwn_andDeclareTheirPathParameters() throws {
        var names: [String] = []
        for (path, methods) in document["paths"]?.map ?? [:] {
            for (method, operation) in methods.map {
                names.append(try #require(operation["operationId"]?.text, "\(method) \(path)"))
                let declared = try (operation["parameters"]?.list ?? []).map { try resolve($0) }
                    .filter { $0["in"]?.text == "path" }.compactMap { $0["name"]?.text }
                let wanted = path.split(separator: "/").filter { $0.hasPrefix("{") }
                    .map { String($0.dropFirst().dropLast()) }
                #expect(declared == wanted, "\(method) \(path)")
                let statuses = Set(try #require(operation["responses"]).map.keys)
                #expect(statuses.isSuperset(of: ["200", "400", "403", "500", "503"]), "\(method) \(path)")
            }
        }

        #expect(Set(names).count == names.count)
    }

    @Test func references_allLeadSomewhere() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let references = Set(text.matches(of: /\$ref: '(#[^']+)'/).map { String($0.output.1) })
        #expect(!references.isEmpty)
        for reference in references {
            #expect(throws: Never.self, "\(reference)") { try resolve(.map(["$ref": .scalar(reference)])) }
        }
    }

    // MARK: Bodies

    @Test func schemas_haveTheFieldsOfTheTypes() throws {
        for (name, value) in Self.bodies {
            let schema = try #require(document[["components", "schemas", name]], "\(name) is not in the document")
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
            let keys = Set(try #require(object as? [String: Any], "\(name)").keys)
            let required = Set((schema["required"]?.list ?? []).compactMap(\.text))
            let all = Set(try #require(schema["properties"], "\(name)").map.keys)

            #expect(required.isSubset(of: keys), "\(name)")
            #expect(keys == all, "\(name)")
        }
    }

    @Test func enumerations_areThoseOfTheCode() throws {
        func values(_ path: String...) -> [String] {
            (document[["components", "schemas"] + path + ["enum"]]?.list ?? []).compactMap(\.text)
        }

        #expect(values("ErrorBody", "properties", "code") == ErrorCode.allCases.map(\.rawValue))
        #expect(values("LeaseStatus", "properties", "state") == LeaseStatus.State.allCases.map(\.rawValue))
        #expect(values("LogBody", "properties", "others") == LogBody.Others.allCases.map(\.rawValue))
        #expect(values("AdapterStatus", "properties", "state") == AdapterStatus.State.allCases.map(\.rawValue))
        // The last of them is null.
        let agents = PairingStatus.Agent.allCases.map(\.rawValue)
        #expect(Array(values("PairingStatus", "properties", "agent").prefix(agents.count)) == agents)
        #expect(values("CommandRequest", "properties", "command") == MeterCommand.Kind.allCases.map(\.rawValue))
        #expect(values("SettingBody", "properties", "origin") == SettingBody.Origin.allCases.map(\.rawValue))
        #expect(
            Array(
                values("CommandBody", "properties", "consequence").prefix(MeterCommand.Kind.Consequence.allCases.count))
                == MeterCommand.Kind.Consequence.allCases.map(\.rawValue))
        #expect(values("PDObjectBody", "properties", "kind") == PDSourceObject.Kind.allCases.map(\.rawValue))
        let parties = PDMessage.Party.allCases.map(\.rawValue)
        #expect(Array(values("PDMessage", "properties", "from").prefix(parties.count)) == parties)
        let quantities = document[["components", "schemas", "ReadingBody", "properties"]]?.map.keys.sorted()
        #expect(quantities == Quantity.allCases.map(\.key).sorted())
    }

    // MARK: What is compared

    private static let routes: GatewayRoutes = {
        let bench = ServerBench()
        let rebuild = RebuildService(
            settings: bench.settings, wallNow: { [loop = bench.loop] in loop.wallNow }, hasFetched: { true },
            logger: bench.log.logger)
        return GatewayRoutes(
            meters: bench.routes,
            metrics: MetricsRoute(
                routes: bench.routes, settings: bench.settings, alerts: bench.alerts, engine: { nil },
                storeBytes: { nil },
                broker: { BrokerStatus() }, process: { nil }),
            live: LiveRoutes(feed: WebBench().live), broker: BrokerRoutes { BrokerStatus() },
            influx: InfluxRoutes { InfluxStatus() },
            leases: LeaseRoutes(directory: bench.directory, settings: bench.settings, keeper: { nil }),
            sync: SyncRoutes(settings: bench.settings, engine: { nil }),
            parked: ParkedRoutes(parked: ParkedService(repository: bench.store, settings: bench.settings)),
            history: HistoryRoutes(directory: bench.directory, settings: bench.settings, rebuild: rebuild),
            series: SeriesRoutes(directory: bench.directory, series: bench.series),
            recordings: RecordingRoutes(directory: bench.directory, recordings: bench.recordings, series: bench.series),
            stretches: StretchRoutes(
                directory: bench.directory, series: bench.series, recordings: bench.recordings, marks: bench.marks),
            alerts: AlertRoutes(directory: bench.directory, alerts: bench.alerts),
            log: MeterLogRoutes(log: bench.zoneLog()), pd: PDRoutes(directory: bench.directory),
            marks: MarkRoutes(directory: bench.directory, marks: bench.marks),
            support: SupportRoutes(directory: bench.directory, nodes: { ScanNodes() }),
            imports: ImportRoutes(
                directory: bench.directory, imports: bench.imports(), loop: bench.loop, zoneOffset: { _ in .zero },
                zoneFile: { _ in nil }),
            joining: ScriptedJoining())
    }()

    /// One of each body, with all of its fields.
    private static let bodies: [(name: String, value: any Encodable & Sendable)] = {
        var connect = ConnectRequest(wait_ms: 1, model: "m", id: "i")
        (connect.takeover, connect.queue_ms, connect.no_lease, connect.over, connect.yes) = (true, 1, true, "ble", true)
        connect.timeout_ms = 1
        var web = WebStatus(serving: true, enabled: true, listen: "l", urls: [])
        web.token = "t"
        web.tls = WebTLSStatus(self_signed: true, fingerprint: "f", ends: "e", days_left: 1, error: nil)
        let author = HistoryLine.Author(at: "a", host: nil, host_id: nil)
        let error = ErrorBody(code: .held, message: "m", next: "n")
        let store = StoreStatus(path: "p", unsaved: 0, saved: 0, dropped: 0, error: nil)
        var meter = MeterStatus(
            id: "i", state: "offline", since: "s", local_only: true, wanted: true, counters: MeterStatus.Counters())
        meter.rejected_answers = 3
        meter.told = TelemetryBody()
        let counted = CountedBody(energy_Wh: 1, charge_mAh: 1, since: "s", counted_ms: 1)
        meter.counted = counted
        let tariff = Tariff("0.3 EUR")
        meter.tariff = tariff
        meter.hears_pd = true
        (meter.measured_by, meter.holder_state, meter.unshared) = ("h", "ready", true)
        var reading = Reading()
        for quantity in Quantity.allCases { reading[quantity] = 1 }
        let values = ReadingBody(reading)
        meter.spread = SpreadBody(count: 2, least: values, greatest: values)
        meter.sampling = SamplingBody(wanted: 1000, rate: 50, error: "e")
        var line = ReadingLine(time: "t", values: values, missed: 1)
        (line.measured_by, line.count, line.least, line.greatest) = ("h", 2, values, values)
        line.told = TelemetryBody()
        var live = LiveBody(at: 1)
        (live.meters, live.adapters, live.store, live.refresh_version) = ([], [], store, 1)
        live.alerts_raised = 1
        live.cloud = CloudStatus(joined: false, host_id: "i", host_name: "n")
        live.sync = SyncStatusBody(zone: "z", mode: "idle", stream: "open")
        return requests(connect) + [
            ("ScanNodes", ScanNodes()), ("ScanNode", ScanNode(name: "n", host: "h", port: 1)),
            ("ErrorBody", error), ("VersionBody", VersionBody(version: "1", commit: "c", build: "debug")),
            ("ReadingBody", values), ("ReadingLine", line),
            ("CountedBody", counted), ("SpreadBody", SpreadBody(count: 2, least: values, greatest: values)),
            ("SamplingBody", SamplingBody(wanted: 1000, rate: 50, error: "e")), ("TariffBody", tariff),
            ("TelemetryBody", TelemetryBody()),
            ("ToldGroup", TelemetryBody.Group(index: 0, charge_mAh: 1, energy_Wh: 1)),
            ("TrafficLine", TrafficLine(t: 1, dir: "in", hex: "00", missed: 1)),
            ("SyncEventLine", SyncEventLine(number: 1, uptime_ms: 1, time: "t", event: "e", missed: 1)),
            ("RefreshLine", RefreshLine(refresh_version: 1)), ("LeaseStatus", LeaseStatus(.held)),
            ("DeviceBody", DeviceBody(serial: nil, firmware: nil, hardware: nil, power_on_count: nil)),
            ("MeterCounters", meter.counters), ("MeterStatus", meter), ("StoreStatus", store),
            ("BackupStatus", BackupStatus(directory: "/b")),
            ("AdapterStatus", AdapterStatus(address: "a", name: nil, state: .idle, since: "s")),
            ("PairingStatus", PairingStatus(bondable: nil, agent: nil, error: nil)),
            ("GatewayStatus", GatewayStatus(meters: [], store: store)), ("LiveBody", live), ("WebStatus", web),
            ("WebTLSStatus", WebTLSStatus(self_signed: true, fingerprint: nil, ends: nil, days_left: nil, error: nil)),
            (
                "ScanOther",
                ScanOther(
                    address: "a", transport: "t", adapter: "a", name: nil, rssi: nil, looks_like_meter: true,
                    reason: "r")
            ),
            ("ScanEntry", ScanEntry(id: "i", model: nil, name: nil, transport: "t", port: "p", state: "s")),
            ("SettingBody", SettingBody("name")),
            ("CommandBody", CommandBody(.brightness, numbers: 0...5, step: 1, setting: "brightness")),
            ("CommandsBody", CommandsBody(meter: "m", model: nil, commands: [])),
            ("SettingsBody", SettingsBody(settings: [:], known: [], details: [], once: [:], stays_here: true)),
            ("ForgottenMeter", ForgottenMeter(id: "i")),
            ("MeterAliasBody", MeterAliasBody(alias: "a", meter: "m")),
            ("MeterAliases", MeterAliases(aliases: [MeterAliasBody(alias: "a", meter: "m")])),
            (
                "MeterLogBody",
                MeterLogBody(name: nil, samples: 1, interval_ms: 1, duration_s: 1, charge_mAh: 1, energy_Wh: 1)
            ),
            ("MeterLogSampleLine", MeterLogSampleLine(t: 1, values: values)), ("Author", author),
            (
                "HistoryLine",
                HistoryLine(key: "k", old: nil, new: nil, deleted: false, written: author, overwritten: author)
            ),
            (
                "LogLineBody",
                LogLineBody(
                    kind: "state", at: "a", until: nil, age_ms: 1, count: 1, mine: true, host_time: "h", what: "w")
            ),
            ("LogBody", LogBody(meter: "m", log: [], others: .none)),
            ("HistoryBody", HistoryBody(meter: "m", history: [])), ("BrokerStatus", BrokerStatus()),
            ("WhoEntry", WhoEntry(meter: "m", state: "held", mine: true)),
            ("WhoBody", WhoBody(joined: true, leases: [])),
            ("CloudStatus", CloudStatus(joined: false, host_id: "i", host_name: "n")),
            ("RetiredHost", RetiredHost(id: "i", name: "n", tokens: 1, leases: [])),
            ("SessionBody", SessionBody(login: .none, may_change: false, reason: "r")),
        ] + recordings + powerDelivery + alerts + syncs(error) + support
    }()

    private static var support: [(name: String, value: any Encodable & Sendable)] {
        [
            ("SupportBody", SupportBody(meters: [], radios: nil)),
            ("SupportMeter", SupportMeter(id: "i", model: nil, state: "s", transport: nil)),
            ("SupportTransition", SupportMeter.Transition(age_ms: 1, from: "f", to: "t", cause: "c")),
            ("SupportTraffic", SupportMeter.Traffic(age_ms: 1, dir: "in", hex: "00", bytes: 1)),
            ("SupportService", SupportService(service: "FFE0", handle: 1, characteristics: [])),
            (
                "SupportCharacteristic",
                SupportService.Characteristic(uuid: "FFE1", handle: 1, properties: [], cccd: nil)
            ),
            ("ProxyStatus", ProxyStatus(name: nil, version: "2026.6.5", encrypted: true)),
            ("SupportRadios", SupportRadios(adapters: [], advertisements: [], strangers: 0, management: [])),
            (
                "SupportAdapter",
                SupportRadios.Adapter(
                    address: "a", name: "n", manufacturer: 1, hci_version: 9, supported_settings: "0x1",
                    current_settings: "0x1", reset: nil)
            ),
            (
                "SupportAdvertisement",
                SupportRadios.Advertisement(address: "a", address_type: "public", name: nil, rssi: nil, data: [])
            ),
            ("SupportTrace", SupportRadios.Trace(age_ms: 1, adapter: nil, dir: "in", words: "w")),
        ]
    }

    private static let load = LoadRequest(current: "1.5A", cutoff: "3V", limit: "8h", on_link_loss: "off")

    private static func requests(_ connect: ConnectRequest) -> [(name: String, value: any Encodable & Sendable)] {
        [
            ("ConnectRequest", connect), ("CommandRequest", CommandRequest(command: "rotate", number: 1)),
            ("RecordingRequest", RecordingRequest(name: "n", until: "u", start_above: "s", notify: [], load: load)),
            ("LoadRequest", load),
            ("MarkRequest", MarkRequest(name: "n", at: "a", end: "e", open: true, local: true)),
            ("MarkChange", MarkChange(name: "n", end: "e")),
            ("SettingsRequest", SettingsRequest(settings: [:])),
            ("RecordingTextRequest", RecordingTextRequest(name: "n", note: "n")),
            ("CloudJoinRequest", CloudJoinRequest(urls: ["u"], token: "t", pin: "p", bring_all: true)),
            ("AliasRequest", AliasRequest(meter: "m")),
            ("SyncRequest", SyncRequest(detach: true)), ("RebuildRequest", RebuildRequest(dry_run: true)),
            ("ProfilerRequest", ProfilerRequest(meters: ["m"], from: "f", to: "t", for_ms: 1)),
            ("ProfilerBody", ProfilerBody(url: "u")), ("WebEnableRequest", WebEnableRequest(listen: "l")),
            ("LoginRequest", LoginRequest(token: "t")),
        ]
    }

    private static var alerts: [(name: String, value: any Encodable & Sendable)] {
        var alert = AlertBody(id: 1, meter: "m", condition: "c", notify: [], state: "quiet", count: 0)
        alert.verdict = "v"
        return [
            ("AlertRequest", AlertRequest(meter: "m", condition: "c", name: "n", notify: [])),
            ("AlertBody", alert),
            (
                "AlertTarget",
                AlertTarget(name: "n", kind: "exec", waiting: 0, delivered: 0, lost: 0, error: nil)
            ),
            ("AlertsBody", AlertsBody(alerts: [], raised: 0, targets: [])),
            ("AlertTestResult", AlertTestBody.Result(target: "t", delivered: true, error: nil)),
            ("AlertTestBody", AlertTestBody(results: [])),
        ]
    }

    private static var powerDelivery: [(name: String, value: any Encodable & Sendable)] {
        let line = PDBody.Line(time: "t", voltage_V: 1, current_A: 1, cc1_V: 1, cc2_V: 1)
        var entry = PDEntryBody(number: 1, time: "t", clock_ms: 1, kind: "message", text: "t", line: line)
        let message = PDEntryBody.Message(
            name: "n", sop: "SOP", objects: [], acknowledges: false, resent: false, bytes: "00")
        entry.message = message
        return [
            ("PDBody", PDBody(meter: "m", listening: true, entries: [], last: 0, dropped: 0, entries_max: 1000)),
            ("PDLine", line), ("PDContract", PDBody.Contract(text: "t", position: 1)),
            ("PDObjectBody", PDObjectBody(position: 1, kind: "fixed", text: "t", abilities: [])),
            ("PDEntryBody", entry), ("PDMessage", message),
        ]
    }

    private static var recordings: [(name: String, value: any Encodable & Sendable)] {
        let cost = Tariff("0.3 EUR").flatMap { CostBody(of: 1, at: $0) }
        var recording = RecordingBody(
            id: "i", meter: "m", host_id: "h", mine: true, state: "ended", trigger: "hand", started: "s", until: "u")
        var stretch = StretchBody(meter: "m", readings: 1, resolution_ms: 1, quantities: [:])
        var test = BatteryTestBody(until: "u", notify: [], armed: true)
        let load = LoadBody(current_A: 1, cutoff_V: 3, limit_ms: 1, on_link_loss: "keep", state: "away")
        test.load = load
        let mark = MarkBody(
            id: "i", meter: "m", name: "n", from: "f", to: nil, is_local: true, host: nil, host_id: "h")
        (recording.cost, stretch.cost, recording.test) = (cost, cost, test)
        return [
            ("SeriesColumn", SeriesBody.Column(min: [], max: [], mean: [])),
            ("StretchSpread", QuantitySpread(least: 1, greatest: 1, mean: 1, p5: 1, p50: 1, p95: 1)),
            ("StretchBody", stretch),
            ("StretchRecordingRequest", StretchRecordingRequest(from: "f", to: "t", name: "n")),
            (
                "SeriesBody",
                SeriesBody(meter: "m", start: "s", width_ms: 1, tier: "raw", gap_ms: 1, t_ms: [], series: [:])
            ),
            ("CostBody", cost), ("BatteryTestBody", test), ("LoadBody", load),
            ("RecordingRange", RecordingBody.Range(min: 1, max: 1, mean: 1)),
            ("RecordingGap", RecordingBody.Gap(start: "s", duration_ms: 1, cause: "link")),
            (
                "RecordingBody",
                recording
            ),
            ("MarkBody", mark), ("MarksBody", MarksBody(marks: [mark])),
            ("RecordingsBody", RecordingsBody(recordings: [])), ("InfluxStatus", InfluxStatus(url: "u")),
            (
                "ImportBody",
                ImportBody(
                    recording: RecordingBody(
                        id: "i", meter: "m", host_id: "h", mine: true, state: "ended", trigger: "hand", started: "s",
                        until: "u"), format: "csv", lines: 2, columns_left_out: [],
                    lines_left_out: 0, filtered_samples: 0, remarks: [])
            ),
        ]
    }

    private static func syncs(_ error: ErrorBody) -> [(name: String, value: any Encodable & Sendable)] {
        let status = SyncStatusBody(zone: "z", mode: "idle", stream: "open")
        return [
            (
                "SyncCounts",
                SyncResultBody.Counts(type: "t", pushed: 1, fetched: 1, unchanged: 1, parked: 1)
            ),
            (
                "SyncResultBody",
                SyncResultBody(
                    run: 1, trigger: "t", age_ms: 1, duration_ms: 1, end: "complete", was_cancelled: false, skipped: 0,
                    types: [])
            ),
            ("SyncPutOff", SyncStatusBody.PutOff(type: "t", name: "n", reason: "r")),
            ("SyncNetwork", SyncStatusBody.Network(satisfied: true, interface: nil, kind: nil)),
            ("SyncCounters", status.counters), ("SyncStatusBody", status),
            (
                "ParkedEntry",
                ParkedEntry(
                    id: "i", reason: .refused, words: "w", type: "t", name: "n", values: [:], own: true, zone: nil,
                    at: WallTime(millisecondsSince1970: 1))
            ),
            ("ParkedBody", ParkedBody(entries: [])), ("ParkedAnswer", ParkedAnswer(id: "i", properties: 1)),
            ("RebuildExample", RebuildReportBody.Example(type: "t", from: "f", into: "i", moved: [], kept: [])),
            ("RebuildReportBody", RebuildReportBody()),
            ("RebuildLine", RebuildLine(.failed, version: 1, scanned: 1, folded: 1, error: error)),
        ]
    }

    @Test func everyObjectOfTheDocument_isCompared() throws {
        let objects = try #require(document[["components", "schemas"]]).map.filter { $0.value["properties"] != nil }

        #expect(Set(objects.keys) == Set(Self.bodies.map(\.name)))
    }

    // MARK: Reading both

    private func documented(on listener: String) -> [String] {
        (document["paths"]?.map ?? [:]).flatMap { path, methods in
            methods.map.filter { $0.value["x-listeners"]?.list.contains(.scalar(listener)) == true }
                .map { "\($0.key.uppercased()) \(path)" }
        }.sorted()
    }

    /// As the document writes them: `{meter}` for `:meter`.
    private func routes(of router: Router<BasicRequestContext>) -> [String] {
        router.routes.map { route in
            let parts = "\(route.path)".split(separator: "/")
                .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
            return "\(route.method.rawValue) /\(parts.joined(separator: "/"))"
        }.sorted()
    }

    private func resolve(_ node: YAML) throws -> YAML {
        guard let reference = node["$ref"]?.text else { return node }
        return try #require(document[reference.split(separator: "/").dropFirst().map { String($0) }], "\(reference)")
    }
}

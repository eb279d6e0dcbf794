import Domain
import Gateway
import GatewayAPI
import Hummingbird
import HummingbirdTesting
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

@testable import GatewayServer

/// `GET /metrics` of meterd.
@Suite(.timeLimit(.minutes(10)))
struct MetricsRouteTests {
    private let bench = ServerBench()
    private var broker = BrokerStatus()
    private let id = #"{meter="02:00:00:00:25:0C"}"#

    private func route(_ engine: SyncEngine? = nil) -> MetricsRoute {
        MetricsRoute(
            routes: bench.routes, settings: bench.settings, alerts: bench.alerts, engine: { engine },
            storeBytes: { 4096 },
            broker: { [broker] in broker }, process: { nil })
    }

    private func page() async throws -> (answer: Answer, lines: [Substring]) {
        let router = bench.routes.router(metrics: route())
        let answer = try await Application(router: router).test(.router) { client in
            try await client.execute(uri: "/metrics", method: .get) { response in
                Answer(
                    status: response.status.code, contentType: response.headers[.contentType],
                    text: String(buffer: response.body))
            }
        }
        return (answer, answer.text.split(separator: "\n"))
    }

    @Test func page_tellsAMeter_inBaseUnits() async throws {
        // From then on it hears of changed settings.
        try await bench.directory.restore()
        try await bench.connect()
        _ = try await bench.directory.set(["name": "Bench \"1\""], for: "\(ServerBench.id)")
        // To `increase()` a total that fell after a power cut would be consumption: what is told is stored.
        #expect(!(try await page().answer.text.contains("_energy_joules_total{")))
        let running = Task { await bench.recorder.run() }
        bench.recorder.finish()
        await running.value
        let status = try await bench.directory.session("\(ServerBench.id)").status()
        let reading = try #require(status.reading?.reading)

        let (answer, lines) = try await page()

        #expect(answer.status == 200)
        #expect(answer.contentType == "text/plain; version=0.0.4; charset=utf-8")
        for line in [
            #"meterd_build_info{version="1.2.3",commit="abc1234",build="release"} 1"#,
            #"meterd_meter_info{meter="02:00:00:00:25:0C",model="UM25C",name="Bench \"1\"",transport="serial"} 1"#,
            #"meterd_meter_state{meter="02:00:00:00:25:0C",state="data-available"} 1"#,
            #"meterd_meter_state{meter="02:00:00:00:25:0C",state="offline"} 0"#,
            "meterd_meter_voltage_volts\(id) \(try number(reading[.voltage]))",
            "meterd_meter_energy_joules_total\(id) \(try number(reading[.countedEnergy].map { $0 * 3600 }))",
            "meterd_meter_charge_coulombs_total\(id) \(try number(reading[.countedCharge].map { $0 * 3.6 }))",
            #"meterd_meter_group_energy_joules{meter="02:00:00:00:25:0C",group="9"} 0"#,
            "meterd_meter_readings_total\(id) \(status.counters.readings)",
            "meterd_meter_links_opened_total\(id) 1", "meterd_meter_links_lost_total\(id) 0",
            "meterd_meter_wanted\(id) 1", "meterd_lease_held\(id) 0", "meterd_cloud_joined 0",
            "meterd_store_size_bytes 4096", "meterd_store_failing 0",
        ] {
            #expect(lines.contains(line[...]), "\(line) is missing in\n\(answer.text)")
        }
        #expect(lines.contains { $0.hasPrefix("meterd_meter_last_reading_age_seconds\(id) ") })
        #expect(!answer.text.contains("_counted_energy_"))
        #expect(!answer.text.contains("_ohms{") || reading.supported.contains(.resistance))
    }

    /// A line in a graph ends with the data: a value that nobody measured is worse than none.
    @Test func values_areGone_withTheMeter_andTheMeterItselfIsStillTold() async throws {
        try await bench.connect()
        #expect(try await page().lines.contains { $0.hasPrefix("meterd_meter_voltage_volts{") })

        bench.links.unplug(ServerBench.path)
        await bench.directory.handle(
            .vanished(Sighting(id: ServerBench.id, model: .um25c, name: nil, link: .serial(path: ServerBench.path))))
        let (_, lines) = try await page()

        #expect(lines.contains(#"meterd_meter_state{meter="02:00:00:00:25:0C",state="offline"} 1"#))
        #expect(lines.contains("meterd_meter_links_lost_total\(id) 1"[...]))
        #expect(lines.contains { $0.hasPrefix("meterd_meter_last_reading_age_seconds{") })
        for quantity in Quantity.allCases {
            #expect(!lines.contains { $0.hasPrefix("\(quantity.metric.name){") })
        }
    }

    @Test func page_ofAHostWithoutMeters_namesNone() async throws {
        let (answer, _) = try await page()

        #expect(answer.status == 200)
        #expect(!answer.text.contains("meter="))
    }

    @Test func broker_isTold_whereOneIsConfigured_andNotWhereNot() async throws {
        let without = try await page().answer.text
        var told = self
        told.broker = .sample
        let (answer, lines) = try await told.page()

        #expect(!without.contains("meterd_broker_"))
        for line in [
            "meterd_broker_connected 0", "meterd_broker_queued_messages 7",
            "meterd_broker_messages_published_total 1200", "meterd_broker_messages_dropped_total 3",
            "meterd_broker_messages_refused_total 2", "meterd_broker_links_opened_total 4",
        ] {
            #expect(lines.contains(line[...]), "\(line) is missing in\n\(answer.text)")
        }
        // Neither its address nor its words: they change, and may name people.
        #expect(!answer.text.contains("broker.lan") && !answer.text.contains("refuses"))
    }

    @Test func alert_isTold_byItsNumber_untilItIsOver() async throws {
        try await bench.connect()
        let added = try await bench.alerts.add("current > 0mA", of: ServerBench.id, name: "Alice's phone", notify: [])
        let line = "meterd_alert_raised{meter=\"\(ServerBench.id)\",alert=\"\(added.rule.id)\"} "
        #expect(try await page().lines.contains("\(line)0"))

        bench.loop.advance(by: .seconds(30))
        let (answer, lines) = try await page()

        #expect(lines.contains("\(line)1"), "\(answer.text)")
        #expect(!answer.text.contains("Alice"))
        _ = try await bench.alerts.remove("\(added.rule.id)")
        #expect(!(try await page().answer.text.contains("meterd_alert_raised{")))
    }

    /// With everything there is, every metric is there: what the catalogue and the documents name is not made up.
    @Test func fullPage_hasTheWholeCatalogue() throws {
        let page = try fullPage()

        let types = page.text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
        #expect(Set(types) == Set(GatewayMetrics.all.map { "# TYPE \($0.name) \($0.kind.rawValue)"[...] }))
        #expect(types.count == GatewayMetrics.all.count)
    }

    @Test func lease_isTold_withoutItsTokenAndItsHolder() throws {
        let text = try fullPage().text

        #expect(text.contains("meterd_lease_held{meter=\"m\"} 1\n"))
        #expect(text.contains("meterd_lease_remaining_seconds{meter=\"m\"} 57.5\n"))
        #expect(text.contains("meterd_lease_state{meter=\"m\",state=\"jeopardy\"} 1\n"))
        #expect(!text.contains("4242"))
        // Help texts may name it.
        #expect(!text.split(separator: "\n").contains { !$0.hasPrefix("#") && $0.contains("holder") })
    }

    private func fullPage() throws -> MetricsPage {
        var reading = Reading()
        for quantity in Quantity.allCases { reading[quantity] = 1 }
        var meter = MeterStatus(
            id: "m", state: "data-available", since: "", local_only: false, wanted: true, counters: .init())
        (meter.reading, meter.age_ms, meter.rssi) = (ReadingBody(reading), 100, -60)
        var lease = LeaseStatus(.jeopardy)
        (lease.token, lease.holder, lease.remaining_ms) = (4242, "the holder", 57_500)
        meter.lease = lease
        var sync = SyncStatusBody(zone: "home", mode: "idle", stream: "open")
        sync.clock_behind_ms = -30
        var page = MetricsPage()
        page.add(VersionBody(version: "1", commit: "a", build: "debug"))
        meter.told = TelemetryBody()
        meter.told?.groups = [.init(index: 0, charge_mAh: 1, energy_Wh: 1)]
        page.add(meter, reading)
        // One without counters of its own.
        var counted = Reading()
        (counted[.countedEnergy], counted[.countedCharge]) = (1, 1)
        (meter.id, meter.reading) = ("n", ReadingBody(counted))
        page.add(meter, counted)
        let alert = AlertBody(id: 1, meter: "m", condition: "current > 1A", notify: [], state: "quiet", count: 0)
        let target = AlertTarget(name: "ntfy", kind: "ntfy", waiting: 1, delivered: 2, lost: 3, error: nil)
        page.add(AlertsBody(alerts: [alert], raised: 0, targets: [target]))
        page.add(AdapterStatus(address: "00:1A:7D:DA:71:13", name: "hci0", state: .searching, since: ""))
        page.add(sync)
        page.add(BrokerStatus(url: "mqtt://broker.lan:1883"))
        var store = StoreStatus(path: "", unsaved: 0, saved: 0, dropped: 0, error: "full")
        store.backup = BackupStatus(directory: "/b", age_ms: 1)
        page.add(store, bytes: 1)
        page.add(
            try #require(
                ProcessFigures(
                    stat: "1 (x) S 1 2 3 0 -1 0 0 0 0 0 1 1 0 0 20 0 7 0 1 1 1", bootSeconds: 1, ticksPerSecond: 100,
                    pageBytes: 4096, openDescriptors: 9, descriptorsMax: 1024)))
        return page
    }

    /// As the page writes it.
    private func number(_ value: Double?) throws -> String {
        let value = try #require(value)
        return Int(exactly: value).map(String.init) ?? "\(value)"
    }
}

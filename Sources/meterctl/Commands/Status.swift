import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show every meter: state, holder, last reading with its age, and errors.")

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "Show one meter in detail.", completion: .meters)
    var meter: String?
    @Flag(help: "Refresh every second and at each change, until Ctrl-C.")
    var watch = false
    @OptionGroup var times: TimeOptions
    @OptionGroup var json: JSONOption

    func run() async throws {
        let client = daemon.client
        guard watch else { return try await look(client, fitting: Terminal.columns).show() }
        guard let painter = LivePainter(), !json.isOn else {
            return try await Redraw.loop(client) { try await look(client, fitting: nil).show() }
        }
        try await Redraw.loop(client) {
            painter.paint(try await look(client, fitting: painter.columns).linesOfPicture(painter.columns))
        }
    }

    private func look(_ client: ControlClient, fitting room: Int?) async throws -> Look {
        if let meter {
            let status: MeterStatus = try await client.call(.get, meterPath(meter))
            if json.isOn { return Look(lines: [watch ? try JSONOutput.line(status) : try JSONOutput.pretty(status)]) }
            return Look(lines: Self.table(status, times.text).lines(fitting: room))
        }
        let status: GatewayStatus = try await client.call(.get, "/v1/status")
        if json.isOn { return Look(lines: [watch ? try JSONOutput.line(status) : try JSONOutput.pretty(status)]) }
        let broker: BrokerStatus? = try? await client.call(.get, "/v1/broker")
        let influx: InfluxStatus? = try? await client.call(.get, "/v1/influx")
        return Self.look(at: status, broker, influx, fitting: room)
    }

    struct Look: Equatable {
        var heading: String?
        var lines: [String]
        var talk: [String] = []

        func show() {
            for line in lines { Terminal.exact(line) }
            for line in talk { Terminal.talk(line) }
        }

        func linesOfPicture(_ columns: Int) -> [String] {
            let top = heading.map { ["\($0) · Ctrl-C ends".fitting(columns), ""] } ?? []
            return top + lines + talk.flatMap { $0.visible.wrapped(toCells: columns) }
        }
    }

    static func look(
        at status: GatewayStatus, _ broker: BrokerStatus?, _ influx: InfluxStatus? = nil, fitting room: Int?
    ) -> Look {
        var look = Look(heading: MeterTable.heading(status.meters), lines: [])
        if status.meters.isEmpty {
            look.talk.append("no meter is known yet; plug one in, or: meterctl connect /dev/… --model MODEL")
        } else {
            look.lines = MeterTable.table(status.meters, fitting: room).lines(fitting: room)
        }
        if !status.adapters.isEmpty {
            if !look.lines.isEmpty { look.lines.append("") }
            look.lines += AdapterText.table(status.adapters).lines(fitting: room)
        }
        look.talk += status.meters.compactMap { meter in meter.error.map { "\(meter.name ?? meter.id): \($0)" } }
        look.talk += AdapterText.talk(status.adapters)
        if let error = status.store.error { look.talk.append("store: \(error)") }
        if let error = status.store.backup?.error { look.talk.append("backup: \(error)") }
        if let error = broker?.error { look.talk.append("broker: \(error)") }
        if let error = influx?.error { look.talk.append("influx: \(error)") }
        if let line = AlertText.line(raised: status.alerts_raised) { look.talk.append(line) }
        return look
    }

    static func table(_ meter: MeterStatus, _ times: TimeText) -> Table {
        var table = Table(["FIELD", "VALUE"])
        func add(_ field: String, _ value: String?) { table.add([.init(field), .init(value ?? "–")]) }
        add("id", meter.id + (meter.local_only ? "  (known by this name on this host only)" : ""))
        add("model", meter.model)
        add("name", meter.name)
        add("state", "\(Formatting.state(of: meter)) since \(times.text(meter.since))")
        add("wanted", meter.wanted ? "yes" : "no")
        add("lease", LeaseText.detail(meter.lease, times))
        add("link", linkText(meter))
        add("device", deviceText(meter.device))
        meter.reading?.reading.forEach { quantity, value in add(quantity.key, Formatting.quantity(quantity, value)) }
        if let counted = meter.counted { add("counted by \(counted.by)", CountedText.line(counted, times)) }
        for (key, value) in (meter.told?.details ?? [:]).sorted(by: { $0.key < $1.key }) { add(key, "\(value)") }
        for group in meter.told?.groups ?? [] {
            let charge = Formatting.quantity(.charge, group.charge_mAh)
            add("group \(group.index)", "\(charge), \(Formatting.quantity(.energy, group.energy_Wh))")
        }
        if let sampling = meter.sampling { add("sampling", samplingText(sampling)) }
        add("age", meter.age_ms.map { Formatting.age(milliseconds: $0) })
        add("next attempt", meter.retry_in_ms.map { "in " + Formatting.age(milliseconds: $0) })
        add("error", meter.error)
        let counters = meter.counters
        add(
            "counted",
            "\(counters.readings) readings, \(counters.connects) connects, \(counters.disconnects) disconnects, "
                + "\(counters.timeouts) time-outs, \(counters.skipped_bytes) bytes skipped"
                + (counters.lost_samples.map { ", \($0) samples lost" } ?? "")
                + (counters.filtered_samples.map { ", \($0) impossible samples left out" } ?? ""))
        return table
    }

    private static func samplingText(_ sampling: SamplingBody) -> String {
        if let error = sampling.error { return "not \(sampling.wanted) times a second: \(error)" }
        return sampling.rate.map { "\($0) times a second, by its own clock" } ?? "being prepared"
    }

    private static func linkText(_ meter: MeterStatus) -> String? {
        guard let transport = meter.transport else { return nil }
        var text = "\(transport) \(meter.port ?? "")"
        if let rssi = meter.rssi { text += ", \(rssi) dBm" }
        let others = meter.transports.filter { $0 != transport }
        return others.isEmpty ? text : text + "; also over " + others.joined(separator: ", ")
    }

    private static func deviceText(_ device: DeviceBody?) -> String? {
        let parts = [
            device?.serial.map { "serial \($0)" }, device?.firmware.map { "firmware \($0)" },
            device?.hardware.map { "hardware \($0)" }, device?.power_on_count.map { "switched on \($0) times" },
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

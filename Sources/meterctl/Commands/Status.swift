import ArgumentParser
import GatewayAPI
import MeterModel
import ProgramKit

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Every meter: state, who has it, last reading and its age, what is wrong.")

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "One meter, in detail.")
    var meter: String?
    @Flag(help: "Show it anew each second and with each change, until Ctrl-C.")
    var watch = false
    @Flag(help: "JSON on stdout.")
    var json = false

    func run() async throws {
        let client = daemon.client
        guard watch else { return try await show(from: client) }
        try await Redraw.loop(client) { try await show(from: client) }
    }

    private func show(from client: ControlClient) async throws {
        if let meter {
            try showOne(try await client.call(.get, meterPath(meter)))
        } else {
            let status: GatewayStatus = try await client.call(.get, "/v1/status")
            // A meterd of another version that knows no broker has no trouble with one.
            let broker: BrokerStatus? = json ? nil : try? await client.call(.get, "/v1/broker")
            try showAll(status, broker)
        }
    }

    private func showAll(_ status: GatewayStatus, _ broker: BrokerStatus?) throws {
        if json { return Terminal.exact(watch ? try JSONOutput.line(status) : try JSONOutput.pretty(status)) }
        if watch {
            Terminal.clear()
            if Terminal.isOutputATerminal { Terminal.line(heading(status) + "\n", linesKept: true) }
        }
        defer {
            if let error = broker?.error { Terminal.talk("broker: \(error)") }
            if let line = AlertText.line(raised: status.alerts_raised) { Terminal.talk(line) }
        }
        guard !status.meters.isEmpty else {
            Terminal.talk("no meter is known yet; plug one in, or: meterctl connect /dev/… --model MODEL")
            if !status.adapters.isEmpty { AdapterText.table(status.adapters).print() }
            AdapterText.talk(status.adapters)
            return
        }
        var table = Table(["ID", "MODEL", "NAME", "STATE", "LEASE", "VOLTAGE", "CURRENT", "POWER", "AGE"])
        for meter in status.meters { table.add(row(meter)) }
        table.print()
        if !status.adapters.isEmpty {
            Terminal.line("")
            AdapterText.table(status.adapters).print()
        }
        for meter in status.meters {
            if let error = meter.error { Terminal.talk("\(meter.name ?? meter.id): \(error)") }
        }
        AdapterText.talk(status.adapters)
        if let error = status.store.error { Terminal.talk("store: \(error)") }
    }

    private func heading(_ status: GatewayStatus) -> String {
        let live = status.meters.filter(\.hasData)
        let power = live.compactMap { $0.reading?.reading[.power] }.reduce(0, +)
        return "\(status.meters.count) meters, \(live.count) with data, together \(Formatting.quantity(.power, power))"
            + " · Ctrl-C ends"
    }

    private func row(_ meter: MeterStatus) -> [Table.Cell] {
        let reading = meter.reading?.reading
        let isLive = meter.hasData
        func value(_ quantity: Quantity) -> Table.Cell {
            .init(Formatting.quantity(quantity, reading?[quantity]), isLive ? nil : .dim)
        }
        return [
            .init(meter.id), .init(meter.model ?? "–"), .init(meter.name ?? "–"),
            .init(Formatting.state(of: meter), Formatting.colour(of: meter)), LeaseText.cell(meter.lease),
            value(.voltage),
            value(.current), value(.power),
            .init(meter.age_ms.map { Formatting.age(milliseconds: $0) } ?? "–"),
        ]
    }

    private func showOne(_ meter: MeterStatus) throws {
        if json { return Terminal.exact(watch ? try JSONOutput.line(meter) : try JSONOutput.pretty(meter)) }
        if watch { Terminal.clear() }
        var table = Table(["FIELD", "VALUE"])
        func add(_ field: String, _ value: String?) { table.add([.init(field), .init(value ?? "–")]) }
        add("id", meter.id + (meter.local_only ? "  (known by this name on this host only)" : ""))
        add("model", meter.model)
        add("name", meter.name)
        add("state", "\(Formatting.state(of: meter)) since \(meter.since)")
        add("wanted", meter.wanted ? "yes" : "no")
        add("lease", LeaseText.detail(meter.lease))
        add("link", linkText(meter))
        add("device", deviceText(meter.device))
        meter.reading?.reading.forEach { quantity, value in add(quantity.key, Formatting.quantity(quantity, value)) }
        add("age", meter.age_ms.map { Formatting.age(milliseconds: $0) })
        add("next attempt", meter.retry_in_ms.map { "in " + Formatting.age(milliseconds: $0) })
        add("error", meter.error)
        let counters = meter.counters
        add(
            "counted",
            "\(counters.readings) readings, \(counters.connects) connects, \(counters.disconnects) disconnects, "
                + "\(counters.timeouts) time-outs, \(counters.skipped_bytes) bytes skipped"
                + (counters.filtered_samples.map { ", \($0) absurd samples replaced" } ?? ""))
        table.print()
    }

    private func linkText(_ meter: MeterStatus) -> String? {
        guard let transport = meter.transport else { return nil }
        var text = "\(transport) \(meter.port ?? "")"
        if let rssi = meter.rssi { text += ", \(rssi) dBm" }
        let others = meter.transports.filter { $0 != transport }
        return others.isEmpty ? text : text + "; also over " + others.joined(separator: ", ")
    }

    private func deviceText(_ device: DeviceBody?) -> String? {
        let parts = [
            device?.serial.map { "serial \($0)" }, device?.firmware.map { "firmware \($0)" },
            device?.hardware.map { "hardware \($0)" }, device?.power_on_count.map { "switched on \($0) times" },
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Scan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the meters that are reachable now, connected or not.")

    @OptionGroup var daemon: DaemonOptions
    @Option(
        name: .customLong("for"),
        help: "Duration of the scan. Default: 12s with a working Bluetooth adapter, otherwise 2s.")
    var patience: TimeArgument?
    @Flag(
        help: """
            Also list other devices that were found over Bluetooth, in the network or plugged in, with the reason why \
            each is not listed as a meter.
            """)
    var all = false
    @OptionGroup var json: JSONOption

    func run() async throws {
        let begun = ContinuousClock.now
        async let asked: ScanNodes? = try? daemon.client.call(.get, "/v1/scan/nodes")
        // This request makes the radios scan; see `[bluetooth] scan`.
        var entries: [ScanEntry] = try await daemon.client.call(.get, "/v1/scan")
        let patience = if let patience { patience.duration } else { try await usualPatience() }
        let end = begun + patience
        Terminal.talk("looking for \(Formatting.age(milliseconds: patience.milliseconds)) …")
        while ContinuousClock.now < end {
            try await Task.sleep(until: min(end, .now + .milliseconds(500)))
            entries = try await daemon.client.call(.get, "/v1/scan")
        }
        let nodes = await asked
        let others = all ? try await ScanOthers.all(daemon.client, nodes?.nodes ?? []) : []
        if json.isOn {
            let listing = ScanOthers.Listing(meters: entries, others: others)
            return Terminal.exact(try all ? JSONOutput.pretty(listing) : JSONOutput.pretty(entries))
        }
        try await show(entries)
        if all { ScanOthers.table(others).print() }
        if let nodes { NodeText.show(nodes) }
    }

    /// Usual duration of a scan. With a working adapter, it is one search over both kinds of radio, for which the
    /// kernel takes 10 to 12 s (`DISCOV_INTERLEAVED_TIMEOUT`, `DISCOV_INTERLEAVED_INQUIRY_LEN`).
    private func usualPatience() async throws -> Duration {
        let status: GatewayStatus = try await daemon.client.call(.get, "/v1/status")
        let listens = status.adapters.contains { [.searching, .idle, .starting].contains($0.state) }
        return listens ? .seconds(12) : .seconds(2)
    }

    private func show(_ entries: [ScanEntry]) async throws {
        let status: GatewayStatus = try await daemon.client.call(.get, "/v1/status")
        let dropped = status.adapters.reduce(0) { $0 + $1.dropped }
        defer {
            if dropped > 0, !all {
                Terminal.talk("\(dropped) more look like meters and are not listed: meterctl scan --all says why")
            }
        }
        guard !entries.isEmpty else {
            Terminal.talk("no meter found; for an unknown serial port: meterctl connect /dev/… --model MODEL")
            for line in AdapterText.talk(status.adapters) { Terminal.talk(line) }
            return
        }
        var table = Table(["ID", "MODEL", "NAME", "TRANSPORT", "RSSI", "PORT", "STATE", "HOLDER"])
        for entry in entries {
            table.add([
                .init(entry.id), .init(entry.model ?? "?"), .init(entry.name ?? "–"),
                .init(entry.transports.joined(separator: ", ")),
                .init(entry.rssi.map { "\($0) dBm" } ?? "–"), .init(entry.port),
                .init(entry.state, Formatting.colour(of: entry.state)), .init(entry.holder ?? "–"),
            ])
        }
        table.print()
        for entry in entries where !entry.flags.isEmpty {
            Terminal.talk("\(entry.id) is \(entry.flags.joined(separator: ", ")): unusual, and no fault")
        }
        if let unknown = entries.first(where: { $0.model == nil }) {
            Terminal.talk("\(unknown.id) may be a meter; to find out: meterctl connect \(unknown.id)")
        }
    }
}

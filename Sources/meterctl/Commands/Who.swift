import ArgumentParser
import GatewayAPI
import ProgramKit

struct Who: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show which host has which meter, and until when.",
        discussion: "Shows all leases of the cloud that this host belongs to.")

    @OptionGroup var daemon: DaemonOptions
    @Flag(help: "Refresh every second and at each change, until Ctrl-C.")
    var watch = false
    @OptionGroup var json: JSONOption

    func run() async throws {
        let client = daemon.client
        guard watch else { return try look(try await client.call(.get, "/v1/leases"), Terminal.columns).show() }
        guard let painter = LivePainter(), !json.isOn else {
            return try await Redraw.loop(client) { try look(try await client.call(.get, "/v1/leases"), nil).show() }
        }
        try await Redraw.loop(client) {
            let columns = painter.columns
            painter.paint(try look(try await client.call(.get, "/v1/leases"), columns).linesOfPicture(columns))
        }
    }

    private func look(_ body: WhoBody, _ room: Int?) throws -> Status.Look {
        if json.isOn { return .init(lines: [watch ? try JSONOutput.line(body) : try JSONOutput.pretty(body)]) }
        guard body.joined else {
            let words = "this host belongs to no cloud, so there are no leases; meterctl cloud join URL …"
            return .init(lines: [], talk: [words])
        }
        guard !body.leases.isEmpty else { return .init(lines: [], talk: ["nobody has a meter"]) }
        return .init(lines: Self.table(body.leases).lines(fitting: room))
    }

    static func table(_ leases: [WhoEntry]) -> Table {
        var table = Table(["METER", "NAME", "MODEL", "HOLDER", "TRANSPORT", "STATE", "REMAINING", "TOKEN", "WAITING"])
        for lease in leases {
            let holder = (lease.holder ?? lease.holder_id ?? "–") + (lease.mine ? " (this host)" : "")
            let state = lease.state == "none" ? "free" : lease.state
            let remaining = lease.remaining_ms.map { LeaseText.countdown(milliseconds: $0) }
            let token = lease.token.map { "\($0)" }
            let waiting = lease.waiting.isEmpty ? "–" : lease.waiting.joined(separator: ", ")
            table.add([
                .init(lease.meter), .init(lease.name ?? "–"), .init(lease.model ?? "–"), .init(holder),
                .init(lease.transport ?? "–"), .init(state, LeaseText.colour(of: lease.state)),
                .init(remaining ?? "–", isWhole: true), .init(token ?? "–"), .init(waiting),
            ])
        }
        return table
    }
}

import ArgumentParser
import Domain
import GatewayAPI
import MeterCodec
import ProgramKit

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read the logs that a meter recorded itself (\(models)).",
        discussion:
            "Without a name, lists the logs. With a name, prints the samples of that log as CSV. The meter does not "
            + "measure during the command. For events of a meter, use meterctl log."
    )

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Argument(help: "Name of the log. Without a name, the command lists the logs.")
    var log: String?
    @Flag(help: "Print JSON. The samples of a single log are printed as one object per line.")
    var json = false

    private static let models = MeterCatalogue.standard.modelsWithLogs.map(\.displayName).joined(separator: ", ")

    func run() async throws {
        if let log { return try await printSamples(of: log) }
        let logs: [MeterLogBody] = try await daemon.client.call(
            .get, meterPath(meter, "/logs"), patience: .seconds(120))
        if json { return Terminal.exact(try JSONOutput.pretty(logs)) }
        guard !logs.isEmpty else { return Terminal.talk("the meter has no logs") }
        Self.table(logs).print()
    }

    private func printSamples(of log: String) async throws {
        let samples: [MeterLogSampleLine] = try await daemon.client.allLines(
            meterPath(meter, "/logs/\(log.percentEncoded)"))
        if !json { Terminal.line(Self.header) }
        for sample in samples { Terminal.exact(json ? try JSONOutput.line(sample) : Self.csv(sample)) }
        Terminal.talk("\(samples.count) samples")
    }

    static let columns: [Quantity] = [.voltage, .current, .charge, .energy]
    static let header = (["t_s"] + columns.map(\.key)).joined(separator: ",")

    static func csv(_ sample: MeterLogSampleLine) -> String {
        let values = columns.map { sample.values.reading[$0].map { "\($0)" } ?? "" }
        return (["\(sample.t)"] + values).joined(separator: ",")
    }

    static func table(_ logs: [MeterLogBody]) -> Table {
        var table = Table(["LOG", "SAMPLES", "EVERY", "LASTED", "CHARGE", "ENERGY"])
        for log in logs {
            table.add([
                .init(log.name ?? "–"), .init("\(log.samples)"),
                .init(Formatting.age(milliseconds: Int64(log.interval_ms))),
                .init(Formatting.age(milliseconds: Int64(log.duration_s) * 1000)),
                .init(Formatting.quantity(.charge, log.charge_mAh)), .init(Formatting.quantity(.energy, log.energy_Wh)),
            ])
        }
        return table
    }
}

import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show overwritten values of a meter's settings, with time and author.")

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Argument(help: "Show only this setting.", completion: .settingKeys)
    var key: String?
    @Option(help: "Maximum number of entries, newest first.")
    var limit = 100
    @OptionGroup var times: TimeOptions
    @OptionGroup var json: JSONOption

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit takes a number from 1 to 1000") }
    }

    func run() async throws {
        let of = key.map { "&key=\($0.percentEncoded)" } ?? ""
        let body: HistoryBody = try await daemon.client.call(
            .get, meterPath(meter, "/history") + "?limit=\(limit)\(of)")
        if try json.print(body) { return }
        guard !body.history.isEmpty else { return Terminal.talk("nothing was overwritten") }
        Self.table(body.history, times.text).print()
    }

    static func table(_ lines: [HistoryLine], _ times: TimeText) -> Table {
        var table = Table(["SETTING", "OLD", "NEW", "OVERWRITTEN", "BY", "WRITTEN", "BY"])
        for line in lines {
            let new = line.deleted ? "(all deleted)" : line.new ?? "(default)"
            table.add([
                .init(line.key), .init(line.old ?? "(default)"), .init(new),
                .init(times.text(line.overwritten.at), isWhole: true), .init(name(line.overwritten)),
                .init(times.text(line.written.at), isWhole: true), .init(name(line.written)),
            ])
        }
        return table
    }

    private static func name(_ author: HistoryLine.Author) -> String {
        let name = author.host ?? author.host_id ?? "(clean-up)"
        return (author.brought_by ?? author.brought_by_id).map { "\(name), brought by \($0)" } ?? name
    }
}

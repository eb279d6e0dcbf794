import ArgumentParser
import GatewayAPI
import ProgramKit

struct Rebuild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Merge records that are stored under several names of one meter.",
        discussion: """
            meterd does this once, automatically, after an update that changes how records are named. Ctrl-C stops the \
            merge between two steps; the next run continues from there.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Flag(help: "Report what would be merged, but change nothing.")
    var dryRun = false
    @OptionGroup var json: JSONOption

    func run() async throws {
        if dryRun {
            let report: RebuildReportBody = try await daemon.client.call(
                .post, "/v1/rebuild", body: RebuildRequest(dry_run: true), patience: .seconds(600))
            if try json.print(report) { return }
            for line in Self.lines(for: report) { Terminal.line(line) }
            return
        }
        var progress = ProgressLine()
        let last: RebuildLine = try await daemon.client.lines(
            .post, "/v1/rebuild", body: RebuildRequest(), as: RebuildLine.self
        ) { line in
            guard line.state == .running else { return line }
            progress.show("\(line.scanned ?? 0) records looked at, \(line.folded ?? 0) folded")
            return nil
        }
        progress.end()
        if let error = last.error {
            throw CommandFailure(ControlClient.status(for: error.code), error.message, next: error.next)
        }
        if try json.print(last) { return }
        Terminal.line(Self.summary(last))
    }

    /// Returns text such as `complete: 1,206 records looked at, nothing to do`.
    static func summary(_ last: RebuildLine) -> String {
        let folded = last.folded ?? 0
        let done = folded == 0 && last.state == .complete ? "nothing to do" : "\(Formatting.count(folded)) folded"
        return "\(last.state.rawValue): \(Formatting.count(last.scanned ?? 0)) records looked at, \(done)"
    }

    static func lines(for report: RebuildReportBody) -> [String] {
        var lines = ["\(report.folded) of \(report.scanned) records would be folded into another one"]
        for example in report.examples {
            let moved = example.moved.isEmpty ? "nothing" : example.moved.joined(separator: ", ")
            let kept = example.kept.isEmpty ? "" : "; younger there: " + example.kept.joined(separator: ", ")
            lines.append("  \(example.type) \(example.from) → \(example.into): takes over \(moved)\(kept)")
        }
        if report.examples.count < report.folded { lines.append("  and \(report.folded - report.examples.count) more") }
        return lines
    }
}

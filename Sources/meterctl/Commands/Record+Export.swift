import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit
import Synchronization

extension Record {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Export the readings of a recording, as CSV or one JSON object per line.",
            discussion: "Old readings exist only as means over seconds or minutes.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: RecordingArgument
        @Flag(help: "Print CSV with a header line. This is the default.")
        var csv = false
        @Flag(help: "Print one JSON object per line.")
        var json = false
        @Option(name: .shortAndLong, help: "File to write. Default: standard output.", completion: .file())
        var output = "-"

        func validate() throws {
            if json && csv { throw ValidationError("--json and --csv exclude each other") }
        }

        func run() async throws {
            let client = daemon.client
            // Errors in the request occur here, before a file is created.
            let recording: RecordingBody = try await client.call(.get, which.path())
            try RecordingText.requireMine(recording)
            let file = try OutputFile(path: output)
            let state = Mutex(Writing(printer: ReadingPrinter(form: json ? .json : .csv)))
            defer { state.withLock { $0.progress.end() } }
            try await client.eachLine(which.path("/readings"), as: ReadingLine.self) { line in
                try state.withLock { state in
                    for text in try state.printer.lines(for: line) { try file.write(text) }
                    state.count += 1
                    if state.count.isMultiple(of: 1000) { state.progress.show("\(state.count) readings") }
                }
            }
            let count = state.withLock { state in
                state.progress.end()
                return state.count
            }
            if output != "-" { Terminal.talk("\(count) readings in \(output)") }
            if count == 0 { Terminal.talk("no readings of this time are stored") }
        }

        private struct Writing {
            var printer: ReadingPrinter
            var progress = ProgressLine()
            var count = 0
        }
    }

    struct Plot: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Draw a recording: voltage, current and power over time, as SVG.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: RecordingArgument
        @Option(name: .shortAndLong, help: "File to write. Default: standard output.", completion: .file())
        var output = "-"

        func run() async throws {
            let client = daemon.client
            let recording: RecordingBody = try await client.call(.get, which.path())
            try RecordingText.requireMine(recording)
            let series: SeriesBody = try await client.call(
                .get, which.path("/series?points=\(RecordingPlot.pointsMax)"), patience: .seconds(120))
            guard let plot = RecordingPlot(recording, series) else {
                throw CommandFailure(
                    .error, "no readings of \(recording.id) are stored, so there is nothing to draw",
                    next: "meterctl record show \(recording.id) shows its sums")
            }
            try OutputFile(path: output).write(plot.svg)
            if output != "-" { Terminal.talk("\(recording.id) is drawn in \(output)") }
        }
    }
}

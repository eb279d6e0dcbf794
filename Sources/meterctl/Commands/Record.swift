import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start, stop, keep, list, show, export, plot, rename, note or delete recordings.",
        discussion: "To record whenever the current exceeds 50 mA: meterctl set METER record-above=50mA",
        subcommands: [
            Start.self, Stop.self, Keep.self, List.self, Show.self, Export.self, Plot.self, Rename.self, Note.self,
            Delete.self,
        ])

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin a recording.",
            discussion: "The recording continues across restarts, lost links and power losses of the meter, "
                + "until you run meterctl record stop.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @Option(help: "Name of the recording.")
        var name: String?
        @OptionGroup var json: JSONOption

        func run() async throws {
            let client = daemon.client
            let recording: RecordingBody = try await client.call(
                .post, meterPath(meter, "/recording"), body: RecordingRequest(name: name))
            if try json.print(recording) { return }
            Terminal.line(recording.id)
            let status: MeterStatus = try await client.call(.get, meterPath(meter))
            if let words = Formatting.noData(status, called: meter) { Terminal.talk(words) }
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End the recording of a meter, and show it.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let recording: RecordingBody = try await daemon.client.call(.delete, meterPath(meter, "/recording"))
            if try json.print(recording) { return }
            RecordingText.table(recording, times.text).print()
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List recordings of all hosts, newest first.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: "List only the recordings of this meter.", completion: .meters)
        var meter: String?
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let query = meter.map { "?meter=\($0.percentEncoded)" } ?? ""
            let body: RecordingsBody = try await daemon.client.call(.get, "/v1/recordings\(query)")
            if try json.print(body) { return }
            guard !body.recordings.isEmpty else {
                return Terminal.talk("nothing was recorded; meterctl record start METER begins")
            }
            RecordingText.table(body.recordings, times.text, named: await daemon.client.meterNames()).print()
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a recording: totals, gaps and remarks.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: RecordingArgument
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let recording: RecordingBody = try await daemon.client.call(.get, which.path())
            if try json.print(recording) { return }
            RecordingText.table(recording, times.text).print()
        }
    }
}

struct RecordingArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Id of the recording, the beginning of its id, or its name.", valueName: "id"),
        completion: .recordings)
    var recording: String

    func path(_ rest: String = "") throws -> String { try Self.path(of: recording, rest) }

    static func path(of recording: String, _ rest: String = "") throws -> String {
        guard !recording.isEmpty else {
            throw CommandFailure(.usage, "\"\" names no recording", next: "meterctl record list shows them")
        }
        return "/v1/recordings/\(recording.percentEncoded)\(rest)"
    }
}

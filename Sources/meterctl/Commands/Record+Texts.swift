import ArgumentParser
import GatewayAPI
import ProgramKit

extension Record {
    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change the name of a recording of this host.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: RecordingArgument
        @Argument(help: "New name, 1 to 64 characters. An empty name removes the name.") var name: String
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            try await Record.describe(which, RecordingTextRequest(name: name), daemon, times, json)
        }
    }

    struct Note: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change the note of a recording of this host.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: RecordingArgument
        @Argument(help: "New note, up to 1,000 characters. An empty text removes the note.") var text: String
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            try await Record.describe(which, RecordingTextRequest(note: text), daemon, times, json)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a recording that this host made. It disappears on all hosts; its readings stay.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: RecordingArgument
        @OptionGroup var confirmation: ConfirmationOption
        @OptionGroup var json: JSONOption

        func run() async throws {
            let path = try which.path()
            try confirmation.confirm("delete the recording \(which.recording)")
            let gone: RecordingBody = try await daemon.client.call(.delete, path)
            if try json.print(gone) { return }
            Terminal.talk("\(which.recording) is deleted")
        }
    }

    private static func describe(
        _ which: RecordingArgument, _ request: RecordingTextRequest, _ daemon: DaemonOptions, _ times: TimeOptions,
        _ json: JSONOption
    ) async throws {
        let recording: RecordingBody = try await daemon.client.call(.patch, try which.path(), body: request)
        if try json.print(recording) { return }
        RecordingText.table(recording, times.text).print()
    }
}

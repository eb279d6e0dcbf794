import ArgumentParser
import GatewayAPI
import MeterModel
import ProgramKit

struct BatteryTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "battery-test",
        abstract: "How much a battery takes or gives until a cut-off: battery-test start, stop, list, show.",
        discussion: """
            A battery test is a recording that ends by itself, and tells when it is over:

            meterctl battery-test start bench --until 'voltage < 3.0V for 10s' --start-above 100mA --notify phone

            record export, plot, rename, note and delete take it like any other recording.
            """,
        subcommands: [Start.self, Stop.self, List.self, Show.self])

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin a test of the battery at a meter.",
            discussion: """
                The cut-off is a condition as of an alert, a value above or below a limit and for how long, 10 s without: \
                'current < 50mA for 30s' when a battery is full, 'voltage < 3.0V for 10s' when it is empty. It counts once a \
                value on the other side was seen.

                A test goes on over restarts and lost links; what flowed meanwhile is not in it, and it says so. If the \
                meter is not heard for longer than its setting record-gap, as when a power bank takes it along, the test is \
                over too.
                """)

        @OptionGroup var daemon: DaemonOptions
        @Argument(completion: .meters) var meter: String
        @Option(help: "The cut-off, in quotes: 'current < 50mA for 30s'.")
        var until: String
        @Option(help: "Begin when as much current flows, either way: 0.1 or 100mA. Default: now.")
        var startAbove: String?
        @Option(help: "Tell [notify.NAME] of the configuration when it is over; once for each.")
        var notify: [String] = []
        @Option(help: "What to call it.")
        var name: String?
        @Flag(help: "JSON on stdout.")
        var json = false

        func run() async throws {
            let client = daemon.client
            let request = RecordingRequest(
                name: name, until: until, start_above: startAbove, notify: notify.isEmpty ? nil : notify)
            let test: RecordingBody = try await client.call(.post, meterPath(meter, "/recording"), body: request)
            if json { return Terminal.exact(try JSONOutput.pretty(test)) }
            Terminal.line(test.id)
            Terminal.talk(BatteryTestText.begun(test, on: meter))
            let status: MeterStatus = try await client.call(.get, meterPath(meter))
            if let words = Formatting.noData(status, called: meter) { Terminal.talk(words) }
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a meter's test before its cut-off, and show what it came to.",
            discussion: "Nobody is notified. What was measured stays, as a test that was ended by hand.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(completion: .meters) var meter: String
        @OptionGroup var times: TimeOptions
        @Flag(help: "JSON on stdout.")
        var json = false

        func run() async throws {
            let client = daemon.client
            let all: RecordingsBody = try await client.call(.get, "/v1/recordings?meter=\(meter.percentEncoded)")
            if let other = all.recordings.first(where: { $0.mine && $0.state != "ended" }), other.test == nil {
                throw CommandFailure(
                    .error, "what goes on of \(meter) is an ordinary recording",
                    next: "meterctl record stop \(meter.shellWord)")
            }
            let test: RecordingBody = try await client.call(.delete, meterPath(meter, "/recording"))
            if json { return Terminal.exact(try JSONOutput.pretty(test)) }
            guard test.state != "ended" || test.readings > 0 else {
                return Terminal.talk("it had not begun, so nothing is kept of it")
            }
            RecordingText.table(test, times.text).print()
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Battery tests of all hosts, the latest first.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: "Of this meter only.", completion: .meters)
        var meter: String?
        @OptionGroup var times: TimeOptions
        @Flag(help: "JSON on stdout.")
        var json = false

        func run() async throws {
            let query = meter.map { "?meter=\($0.percentEncoded)" } ?? ""
            let all: RecordingsBody = try await daemon.client.call(.get, "/v1/recordings\(query)")
            let tests = RecordingsBody(recordings: all.recordings.filter { $0.test != nil })
            if json { return Terminal.exact(try JSONOutput.pretty(tests)) }
            guard !tests.recordings.isEmpty else {
                return Terminal.talk("no battery was tested; meterctl battery-test start METER --until … begins")
            }
            BatteryTestText.table(tests.recordings, times.text, named: await daemon.client.meterNames()).print()
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "How a battery test stands, or what came of it.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: RecordingArgument
        @OptionGroup var times: TimeOptions
        @Flag(help: "JSON on stdout.")
        var json = false

        func run() async throws {
            let test: RecordingBody = try await daemon.client.call(.get, which.path())
            guard test.test != nil else {
                throw CommandFailure(
                    .error, "\(test.id) is a recording, and no battery test", next: "meterctl record show \(test.id)")
            }
            if json { return Terminal.exact(try JSONOutput.pretty(test)) }
            RecordingText.table(test, times.text).print()
        }
    }
}

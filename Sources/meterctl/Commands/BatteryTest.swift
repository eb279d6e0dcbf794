import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct BatteryTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "battery-test",
        abstract: "How much a battery takes or gives until a cut-off: battery-test start, stop, list, show.",
        discussion: """
            A battery test is a recording that ends by itself, and tells when it is over:

            meterctl battery-test start bench --until 'voltage < 3.0V for 10s' --start-above 100mA --notify phone

            Where the meter is an electronic load, the test drives it:

            meterctl battery-test start dl24 --load 1.5A --cutoff 3.0V --at-most 8h --on-link-loss keep

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

                --load is for a meter that is an electronic load: it is given its current, its own cut-off and its time, \
                which it keeps whatever becomes of the link or of meterd, and is switched on; that is asked about first. At the \
                end of the test, and when you stop it, it is switched off. While the link is lost it goes on by itself. When \
                meterd ends, it is left on, and the next start takes it up.
                """)

        @OptionGroup var daemon: DaemonOptions
        @Argument(completion: .meters) var meter: String
        @Option(
            help:
                "The cut-off, in quotes: 'current < 50mA for 30s'. With --load it may be absent: the load's own ends the test."
        )
        var until: String?
        @Option(help: "Have the load draw this: 1.5A or 1500mA, in steps of 10 mA.")
        var load: String?
        @Option(help: "With --load: below this voltage the load switches itself off, 3.0V.")
        var cutoff: String?
        @Option(help: "With --load: after this time it does so too, 8h or 90m. Default: never.")
        var atMost: String?
        @Option(
            help: "With --load, once a lost link is back: keep the test going, or switch the load off. Default: keep.")
        var onLinkLoss: String?
        @Option(help: "Begin when as much current flows, either way: 0.1 or 100mA. Default: now.")
        var startAbove: String?
        @Option(help: "Tell [notify.NAME] of the configuration when it is over; once for each.")
        var notify: [String] = []
        @Option(help: "What to call it.")
        var name: String?
        @OptionGroup var confirmation: ConfirmationOption
        @OptionGroup var json: JSONOption

        func validate() throws {
            guard load != nil else {
                guard cutoff == nil, atMost == nil, onLinkLoss == nil else {
                    throw ValidationError("--cutoff, --at-most and --on-link-loss are of a load: say --load too.")
                }
                guard until != nil else { throw ValidationError("A test needs --until, or --load and --cutoff.") }
                return
            }
            guard cutoff != nil else {
                throw ValidationError("--load needs --cutoff, below which the load switches itself off.")
            }
            guard startAbove == nil else {
                throw ValidationError("A test with --load begins at once: leave --start-above out.")
            }
        }

        /// What a person is asked about; nil without a load.
        var deed: String? {
            guard let load, let cutoff else { return nil }
            return
                "draw \(load) from what is connected to \(meter), down to \(cutoff), also while its link or meterd is down"
        }

        func run() async throws {
            if let deed { try confirmation.confirm(deed) }
            let client = daemon.client
            var request = RecordingRequest(
                name: name, until: until, start_above: startAbove, notify: notify.isEmpty ? nil : notify)
            if let load, let cutoff {
                request.load = LoadRequest(current: load, cutoff: cutoff, limit: atMost, on_link_loss: onLinkLoss)
            }
            let test: RecordingBody = try await client.call(.post, meterPath(meter, "/recording"), body: request)
            if try json.print(test) { return }
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
        @OptionGroup var json: JSONOption

        func run() async throws {
            let client = daemon.client
            let all: RecordingsBody = try await client.call(.get, "/v1/recordings?meter=\(meter.percentEncoded)")
            if let other = all.recordings.first(where: { $0.mine && $0.state != "ended" }), other.test == nil {
                throw CommandFailure(
                    .error, "what goes on of \(meter) is an ordinary recording",
                    next: "meterctl record stop \(meter.shellWord)")
            }
            let test: RecordingBody = try await client.call(.delete, meterPath(meter, "/recording"))
            if try json.print(test) { return }
            if let load = test.test?.load { Terminal.talk(BatteryTestText.stopped(load, of: meter)) }
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
        @OptionGroup var json: JSONOption

        func run() async throws {
            let query = meter.map { "?meter=\($0.percentEncoded)" } ?? ""
            let all: RecordingsBody = try await daemon.client.call(.get, "/v1/recordings\(query)")
            let tests = RecordingsBody(recordings: all.recordings.filter { $0.test != nil })
            if try json.print(tests) { return }
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
        @OptionGroup var json: JSONOption

        func run() async throws {
            let test: RecordingBody = try await daemon.client.call(.get, which.path())
            guard test.test != nil else {
                throw CommandFailure(
                    .error, "\(test.id) is a recording, and no battery test", next: "meterctl record show \(test.id)")
            }
            if try json.print(test) { return }
            RecordingText.table(test, times.text).print()
        }
    }
}

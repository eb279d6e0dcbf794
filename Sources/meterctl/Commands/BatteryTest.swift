import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct BatteryTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "battery-test",
        abstract: "Start, stop, list or show battery tests, which measure a battery's capacity until a cut-off.",
        discussion: """
            A battery test is a recording that ends automatically and then sends a notification:

            meterctl battery-test start bench --until 'voltage < 3.0V for 10s' --start-above 100mA --notify phone

            If the meter is an electronic load, the test controls the load:

            meterctl battery-test start dl24 --load 1.5A --cutoff 3.0V --at-most 8h --on-link-loss keep

            The commands export, plot, rename, note and delete of meterctl record also accept battery tests.
            """,
        subcommands: [Start.self, Stop.self, List.self, Show.self])

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin a battery test.",
            discussion: """
                The cut-off is a condition like that of an alert: a value above or below a limit for some time \
                (default 10 s). Use 'current < 50mA for 30s' for a full battery, 'voltage < 3.0V for 10s' for an empty \
                battery. The cut-off applies once a value on the other side of the limit was measured.

                A test continues after restarts and lost links. It lists its gaps, during which nothing is measured. \
                A test also ends if the meter is silent for longer than the meter's setting record-gap, for example \
                because a power bank switched the meter off.

                --load is for a meter that is an electronic load. After a confirmation, meterd sets the load's \
                current, its own cut-off and its time limit, and switches the load on. The load keeps these limits \
                without the link and without meterd. meterd switches the load off at the end of the test, and when you \
                stop the test. The load continues while the link is lost. When meterd stops, the load stays on, and \
                meterd resumes the test when it starts again.
                """)

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @Option(
            help:
                "Condition that ends the test, such as 'current < 50mA for 30s'. Optional with --load (see --cutoff)."
        )
        var until: String?
        @Option(help: "Current to set on the electronic load, such as 1.5A or 1500mA, in steps of 10 mA.")
        var load: String?
        @Option(help: "With --load: voltage below which the load switches itself off, such as 3.0V.")
        var cutoff: String?
        @Option(help: "With --load: time after which the load switches itself off, such as 8h or 90m. Default: never.")
        var atMost: String?
        @Option(
            help: """
                With --load: action after a lost link: keep (continue the test) or off (end the test and switch the \
                load off once the link is back). Default: keep.
                """)
        var onLinkLoss: String?
        @Option(help: "Begin once this current flows in either direction, such as 0.1 (ampere) or 100mA. Default: now.")
        var startAbove: String?
        @Option(help: "Target to notify at the end: the NAME of a [notify.NAME] in meterd.toml. Repeatable.")
        var notify: [String] = []
        @Option(help: "Name of the test.")
        var name: String?
        @OptionGroup var confirmation: ConfirmationOption
        @OptionGroup var json: JSONOption

        func validate() throws {
            guard load != nil else {
                guard cutoff == nil, atMost == nil, onLinkLoss == nil else {
                    throw ValidationError("--cutoff, --at-most and --on-link-loss are for a load: add --load.")
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

        /// Action that the user must confirm; nil without a load.
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
            abstract: "End a meter's test before its cut-off, and show its result.",
            discussion: "Sends no notification. Keeps the measurements, and stores the test as stopped by a user.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let client = daemon.client
            let all: RecordingsBody = try await client.call(.get, "/v1/recordings?meter=\(meter.percentEncoded)")
            if let other = all.recordings.first(where: { $0.mine && $0.state != "ended" }), other.test == nil {
                throw CommandFailure(
                    .error, "the recording of \(meter) is not a battery test",
                    next: "meterctl record stop \(meter.shellWord)")
            }
            let test: RecordingBody = try await client.call(.delete, meterPath(meter, "/recording"))
            if try json.print(test) { return }
            if let load = test.test?.load { Terminal.talk(BatteryTestText.stopped(load, of: meter)) }
            guard test.state != "ended" || test.readings > 0 else {
                return Terminal.talk("the test had not begun, so it has no result")
            }
            RecordingText.table(test, times.text).print()
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List battery tests of all hosts, newest first.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: "List only the tests of this meter.", completion: .meters)
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
        static let configuration = CommandConfiguration(abstract: "Show a battery test's progress or result.")

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

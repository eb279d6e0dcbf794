import ArgumentParser
import Domain
import GatewayAPI
import LinuxIO
import ProgramKit

struct MarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark",
        abstract:
            "Mark moments and spans on a meter's timeline, and list, rename or delete these marks.",
        discussion: """
            meterctl mark phone "screen on"

            meterctl mark phone boot -- ./boot-and-wait

            meterctl stretch phone --between boot

            All hosts of the cloud see a mark and may change it. A meter can have 1,000 marks. With --local a mark \
            stays on this host, which keeps the newest 1,000.
            """,
        subcommands: [Add.self, Start.self, End.self, List.self, Rename.self, Delete.self], defaultSubcommand: Add.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Mark this moment, or the time while a program runs.",
            discussion: """
                some-program | meterctl mark phone --from-stdin --match 'state=([a-z]+)'

                With a program after --, the exit code is 0, or 10 if the program failed. With --json, the program's \
                output goes to stderr. --from-stdin sets at most 5 marks a second and 1,000 in total; further lines \
                are only counted.
                """)

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @Argument(help: "Name of the mark, 1 to 80 characters. Several marks may have the same name.")
        var name: String?
        @Option(help: "Time of the mark: 2h (ago), 14:30 or \"2026-11-21 14:30\". Default: now.")
        var at: MomentArgument?
        @Flag(help: "Read lines from standard input, and set a mark as soon as a line matches --match.")
        var fromStdin = false
        @Option(
            help: """
                With --from-stdin: set a mark for each line that matches this POSIX extended regular expression. The text \
                of its first group names the mark.
                """)
        var match: String?
        @OptionGroup var place: MarkPlace
        @OptionGroup var command: ProgramOption
        @OptionGroup var json: JSONOption

        func validate() throws {
            guard fromStdin == (match != nil) else { throw ValidationError("--from-stdin and --match go together.") }
            guard fromStdin == (name == nil), !fromStdin || at == nil && command.program.isEmpty else {
                throw ValidationError("A name, or --from-stdin without --at and a program.")
            }
            if at != nil, !command.program.isEmpty {
                throw ValidationError("--at and a program exclude each other.")
            }
        }

        func run() async throws {
            if let match { return try await MarkStream(daemon.client, meter, match, place, json).run() }
            let client = daemon.client
            let moment = at?.time(before: LinuxClock.wallNow, .local).description
            let program = command.program
            let request = MarkRequest(
                name: name ?? "", at: moment, open: program.isEmpty ? nil : true, local: place.local)
            let mark: MarkBody = try await client.call(.post, meterPath(meter, "/marks"), body: request)
            guard !program.isEmpty else { return try MarkCommand.show(mark, json) }
            let end: ForegroundProgram.End
            do {
                end = try await ForegroundProgram.run(program, toErrors: json.isOn)
            } catch {
                let _: MarkBody? = try? await client.call(.delete, mark.path)
                throw error
            }
            let ended: MarkBody = try await client.call(.patch, mark.path, body: MarkChange(end: "now"))
            if try !json.print(ended) { Terminal.talk("\(ended.id) \(ended.name)") }
            guard end == .exited(0) else {
                Terminal.talk("\(program[0]) \(LimitReport.words(for: end))")
                Terminal.exit(.programFailed)
            }
        }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Begin a span. To end it: meterctl mark end.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @Argument(help: "Name of the span, 1 to 80 characters.") var name: String
        @OptionGroup var place: MarkPlace
        @OptionGroup var json: JSONOption

        func run() async throws {
            let request = MarkRequest(name: name, open: true, local: place.local)
            try MarkCommand.show(try await daemon.client.call(.post, meterPath(meter, "/marks"), body: request), json)
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End an open span now.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: MarkArgument
        @OptionGroup var json: JSONOption

        func run() async throws {
            let mark = try await which.openSpan(daemon.client)
            try MarkCommand.show(try await daemon.client.call(.patch, mark.path, body: MarkChange(end: "now")), json)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a meter's marks, ordered by their beginning.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let body: MarksBody = try await daemon.client.call(.get, meterPath(meter, "/marks"))
            if try json.print(body) { return }
            guard !body.marks.isEmpty else {
                return Terminal.talk("there are no marks; meterctl mark \(meter.shellWord) NAME sets one")
            }
            MarkChoice(body.marks, of: meter).table(times.text).print()
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Rename a mark, on all hosts.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: MarkArgument
        @Argument(help: "The new name, 1 to 80 characters.") var name: String
        @OptionGroup var json: JSONOption

        func run() async throws {
            let mark = try await which.mark(daemon.client)
            try MarkCommand.show(try await daemon.client.call(.patch, mark.path, body: MarkChange(name: name)), json)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a mark, on all hosts.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: MarkArgument
        @OptionGroup var confirmation: ConfirmationOption
        @OptionGroup var json: JSONOption

        func run() async throws {
            let mark = try await which.mark(daemon.client)
            try confirmation.confirm("delete the mark \(which.mark) of \(which.meter)")
            let gone: MarkBody = try await daemon.client.call(.delete, mark.path)
            if try json.print(gone) { return }
            Terminal.talk("\(which.mark) is deleted")
        }
    }

    fileprivate static func show(_ mark: MarkBody, _ json: JSONOption) throws {
        if try json.print(mark) { return }
        Terminal.line(mark.id)
    }
}

struct MarkPlace: ParsableArguments {
    @Flag(help: "Keep the mark on this host. It is not sent to other hosts or MQTT.")
    var local = false
}

struct MarkArgument: ParsableArguments {
    @Argument(help: .meter, completion: .meters) var meter: String
    @Argument(help: "Name or id of the mark. NAME#2 is the second of several marks with the same name.") var mark:
        String

    func mark(_ client: ControlClient) async throws -> MarkBody {
        try MarkChoice(try await marks(client), of: meter).mark(mark)
    }

    func openSpan(_ client: ControlClient) async throws -> MarkBody {
        try MarkChoice(try await marks(client).filter { $0.to == nil }, of: meter, kind: "open span").mark(mark)
    }

    private func marks(_ client: ControlClient) async throws -> [MarkBody] {
        let body: MarksBody = try await client.call(.get, meterPath(meter, "/marks"))
        return body.marks
    }
}

extension MarkBody {
    fileprivate var path: String { "/v1/marks/\(id.percentEncoded)" }
}

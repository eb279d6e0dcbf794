import Foundation
import Testing

/// The built program against the built daemon with its simulated meters.
@Suite(
    .enabled(if: Program.path != nil && Program.daemonPath != nil, "the programs were not built: make build"),
    .timeLimit(.minutes(10)))
struct DaemonTests {
    private let meter = "02:00:00:00:25:0C"

    @Test(arguments: [SIGKILL, SIGTERM])
    func capture_isCutOff_whenTheDaemonEnds(signal: Int32) throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        let capture = try daemon.start(["capture", meter, "--for", "1h", "-o", "-"])

        // The header, and a message.
        #expect(try capture.lines(2).first?.contains(#""format":"meter-capture""#) == true)
        daemon.end(with: signal)
        let (status, talk) = capture.finish()

        #expect(status == 7)
        #expect(talk.contains(" messages in -, which is incomplete\nmeterctl: error: no meterd answers on "))
    }

    @Test func watch_exitsWith7_whenTheDaemonDies() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        let watch = try daemon.start(["watch", meter])

        #expect(try watch.lines(1).first?.contains(" V  ") == true)
        daemon.end(with: SIGKILL)
        let (status, talk) = watch.finish()

        #expect(status == 7)
        // On a busy machine the meter may have no data yet when the watch begins, which it says first.
        #expect(talk.contains("meterctl: error: no meterd answers on "))
    }

    @Test func meterThatIsNotConnected_isTold_withTheCommandThatHelps() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        #expect(try daemon.run(["disconnect", meter]).status == 0)

        let watch = try daemon.run(["watch", meter, "--for", "100ms"])
        let capture = try daemon.run(["capture", meter, "--for", "100ms", "-o", "/dev/null"])

        let words = "\(meter): not-connected; meterctl connect \(meter)\n"
        #expect(watch.status == 0)
        #expect(watch.talk == words)
        #expect(capture.status == 0)
        #expect(capture.talk == "0 messages in /dev/null\nno traffic: \(words)")
    }

    @Test func settings_areJSON_whereAskedFor() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }

        let set = try daemon.run(["set", meter, "name=Bench", "--json"])
        #expect(set.status == 0)
        #expect(set.output.contains(#""name" : "Bench""#))
        #expect(try daemon.run(["get", meter, "name", "--json"]).output == "\"Bench\"\n")
        #expect(try daemon.run(["get", meter, "notes", "--json"]).output == "null\n")

        let unknown = try daemon.run(["get", meter, "nam", "--json"])
        #expect(unknown.status == 2)
        #expect(unknown.output.isEmpty)
        #expect(
            unknown.talk
                == "meterctl: error: no setting is called nam\n"
                + "did you mean name? The settings are name, notes, poll-interval, rate, stale-after, temperature-unit, filter, screen-timeout, "
                + "brightness, threshold, record-above, record-hold, record-gap, tariff\n")
    }

    @Test func commandThatDestroys_asksOnATerminal() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        func command(answer: String, until end: String) throws -> (text: String, status: Int32) {
            let terminal = try PseudoTerminalPair(rows: 24, columns: 200)
            let process = try terminal.run(["command", "um34c", "clear-group", "--socket", daemon.socket])
            let question = try terminal.text(until: "[y/N]")
            terminal.type(answer)
            let text = try question + terminal.text(until: end)
            process.waitUntilExit()
            return (text, process.terminationStatus)
        }
        #expect(try daemon.run(["connect", "um34c"]).talk == "um34c: data-available\n")

        let no = try command(answer: "\n", until: "answer y, or give --yes")
        let yes = try command(answer: "y\n", until: "does not confirm commands")

        #expect(no.status == 1)
        #expect(no.text.hasPrefix("send clear-group to um34c, which empties what it has counted, for good? [y/N]"))
        #expect(yes.status == 0)
        #expect(yes.text.contains("sent to um34c; UM34C does not confirm commands"))
        #expect(try daemon.run(["command", "um34c", "clear-group", "--yes"]).status == 0)
    }

    @Test func completions_areWhatTheDaemonKnows_andNothingWithoutOne() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        func offered(_ words: String..., argument: Int, socket: String) throws -> [Substring] {
            let asked = [
                "---completion", words[0], "--", "positional@\(argument)", "\(words.count + 1)", "0", "meterctl",
            ]
            let run = try Program.run(asked + words + [""], environment: ["METERD_SOCKET": socket])
            #expect(run.status == 0 && run.talk.isEmpty)
            return run.output.split(separator: "\n")
        }

        let meters = try offered("watch", argument: 0, socket: daemon.socket)
        #expect(meters.contains("demo UM25C") && meters.contains("02:00:00:00:25:0C") && meters.contains("KM003C"))
        let commands = try offered("command", "um25c", argument: 1, socket: daemon.socket)
        #expect(commands.contains("clear-group") && !commands.contains("clear-all"))
        #expect(
            try offered("command", "um25c", "brightness", argument: 2, socket: daemon.socket)
                == ["0", "1", "2", "3", "4", "5"])
        #expect(try offered("get", "um25c", argument: 1, socket: daemon.socket).contains("temperature-unit"))
        #expect(try offered("set", "um25c", argument: 1, socket: daemon.socket).contains("temperature-unit="))
        #expect(try offered("watch", argument: 0, socket: "/nonexistent/s").isEmpty)
    }

    @Test func meterThatIsNone_isNoSuchMeter_andNoNameIsWrongUsage() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }

        #expect(try daemon.run(["watch", "nobody"]).status == 3)
        #expect(try daemon.run(["status", " "]).status == 3)
        #expect(try daemon.run(["status", ""]).status == 2)
    }

    @Test func scan_saysHowLongItLooks_inWordsThatFit() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }

        #expect(try daemon.run(["scan", "--for", "50ms"]).talk == "looking for 50 ms …\n")
    }

    @Test func status_fails_whenTheDiskIsFull() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))

        let run = try Program.run(["status", "--json", "--socket", daemon.socket], output: full)

        #expect(run.status == 1)
        #expect(
            run.talk.hasPrefix("meterctl: error: standard output cannot be written: No space left on device"))
    }
}

/// `meterd --demo` in a folder of its own.
final class DemoDaemon {
    let socket: String
    private let folder: URL
    private let process = Process()

    /// Returns once it answers.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        socket = folder.appendingPathComponent("s").path
        process.executableURL = URL(fileURLWithPath: try #require(Program.daemonPath))
        process.arguments = [
            "--demo", "--socket", socket, "--state-directory", folder.appendingPathComponent("state").path,
        ]
        // A port of its own for the web page.
        process.environment = ["PATH": "/usr/bin:/bin", "METERD_WEB_LISTEN": "127.0.0.1:0"]
        let log = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        try process.run()
        var text = ""
        while !text.contains("meterd is ready") {
            let more = log.fileHandleForReading.availableData
            try #require(!more.isEmpty, "meterd ended: \(text)")
            text += String(decoding: more, as: UTF8.self)
        }
        // Nobody reads the rest, so it must not fill the pipe.
        log.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    func end(with signal: Int32 = SIGKILL) {
        guard process.isRunning else { return }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        // In the folder of temporary files a leftover does no harm.
        try? FileManager.default.removeItem(at: folder)
    }

    func run(_ arguments: [String]) throws -> Program.Run { try Program.run(arguments + ["--socket", socket]) }

    func start(_ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(arguments + ["--socket", socket])
    }
}

/// meterctl while it runs.
final class RunningProgram {
    private let process = Process()
    private let (stdout, stderr) = (Pipe(), Pipe())

    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: try #require(Program.path))
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
    }

    /// At least so many whole lines of its output.
    func lines(_ count: Int) throws -> [Substring] {
        var text = ""
        while text.count(where: { $0 == "\n" }) < count {
            let more = stdout.fileHandleForReading.availableData
            try #require(!more.isEmpty, "the output ended: \(text)")
            text += String(decoding: more, as: UTF8.self)
        }
        return text.split(separator: "\n")
    }

    /// Its exit status and what it said on stderr, once it ends by itself.
    func finish() -> (status: Int32, talk: String) {
        // What it says on its way out fits the pipes' buffers.
        let talk = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: talk, as: UTF8.self))
    }
}

/// Recordings of the demo's meters, as a person makes them.
@Suite(
    .enabled(if: Program.path != nil && Program.daemonPath != nil, "the programs were not built: make build"),
    .timeLimit(.minutes(10)))
struct RecordProgramTests {
    private let meter = "02:00:00:00:25:0C"

    @Test func recording_isMade_shown_exported_andDrawn() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        let start = try daemon.run(["record", "start", meter, "--name", "my <phone>"])
        #expect(start.status == 0)
        let id = try #require(start.output.split(separator: "\n").first.map { String($0) })
        #expect(try daemon.run(["record", "start", meter]).status == 1)
        // Two readings, so that something flowed between them.
        let watch = try daemon.start(["watch", meter])
        _ = try watch.lines(3)

        let stop = try daemon.run(["record", "stop", meter, "--json"])
        #expect(stop.status == 0)
        #expect(stop.output.contains(#""state" : "ended""#))
        #expect(try daemon.run(["record", "stop", meter]).status == 1)
        #expect(try daemon.run(["record", "list"]).output.contains("\(id)  demo UM25C  my <phone>"))
        #expect(
            try daemon.run(["record", "show", "MY <phone>"]).output.contains(/\nstate +ended, begun by hand/))

        let csv = try daemon.run(["record", "export", id])
        let json = try daemon.run(["record", "export", id, "--json"])
        #expect(csv.output.hasPrefix("time,voltage_V,current_A,"))
        #expect(json.output.hasPrefix("{\"charge_mAh\":"))
        #expect(csv.output.split(separator: "\n").count == json.output.split(separator: "\n").count + 1)
        let plot = try daemon.run(["record", "plot", id])
        #expect(plot.output.hasPrefix("<?xml version=\"1.0\""))
        #expect(plot.output.contains("my &lt;phone&gt;"))
        #expect(plot.output.hasSuffix("</svg>\n"))
        let none = try daemon.run(["record", "show", "tablet"])
        #expect(none.status == 1)
        #expect(none.talk == "meterctl: error: no recording is called \"tablet\"\nmeterctl record list shows them\n")
    }
}

import Domain
import Foundation
import Testing

/// The built program, run as a person runs it.
@Suite(.enabled(if: Program.path != nil, "meterctl was not built: make build"), .timeLimit(.minutes(10)))
struct ProgramTests {
    @Test func help_isThisText() throws {
        let run = try Program.run(["--help"])

        #expect(run.status == 0)
        #expect(run.output == Program.help)
        #expect(run.talk.isEmpty)
    }

    @Test func byItself_itSaysHowToBegin() throws {
        let run = try Program.run([], environment: ["METERD_SOCKET": "/nonexistent/s"])

        #expect(run.status == 7)
        #expect(run.output.hasPrefix("No meterd runs here, so nothing reads your meters yet.\n\n"))
        #expect(run.output.contains("/meterctl connect METER    reads one, now and after every boot\n"))
        #expect(run.talk.isEmpty)
    }

    @Test func decode_printsOneObjectAFrame() throws {
        let hex = Hex.encode(DecodedFrameTests.block)
        let run = try Program.run(["decode", "--model", "um25c", "--json"], input: "\(hex)\n\(hex)\n")

        #expect(run.status == 0)
        #expect(run.talk.isEmpty)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains(#""voltage_V":5.106"#) && $0.contains("\"raw\":\"\(hex)\"") })
    }

    @Test func decode_showsPeopleEveryValue() throws {
        let run = try Program.run(
            ["decode", "--model", "UM25C", "-"], input: Data(DecodedFrameTests.block))

        #expect(run.status == 0)
        #expect(run.output.hasPrefix("frame 1: UM25C, 130 bytes\n  voltage_V: 5.106 V\n  current_A: 0.059 A\n"))
        #expect(run.output.contains("\n  charging_mode: –\n"))
        #expect(run.output.hasSuffix("  group 9: 0 mAh, 0 mWh\n"))
    }

    @Test func decode_saysWhatIsWrong_whereNoFrameIs() throws {
        var block = DecodedFrameTests.block
        block[129] = 0
        let run = try Program.run(["decode", "--model", "um25c"], input: Hex.encode(block))

        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.talk.contains("meterctl: error: no frame of um25c in these bytes: "))
        #expect(run.talk.hasSuffix("check the model\n"))
    }

    @Test func decode_takesWrongChecks_whenAskedTo() throws {
        var block = DecodedFrameTests.block
        block[129] = 0
        let run = try Program.run(["decode", "--model", "um25c", "--unchecked"], input: Hex.encode(block))

        #expect(run.status == 0)
        #expect(run.talk == "check sums are not enforced\n")
    }

    @Test(arguments: [
        (["decode", "--model", "um99"], Int32(2), "meterctl: error: no decoder is called \"um99\"\n"),
        (["decode", "--model", "um25c", "/nonexistent"], 1, "meterctl: error: /nonexistent cannot be read\n"),
        (["status", "--socket", "/nonexistent/s"], 7, "meterctl: error: no meterd answers on /nonexistent/s\n"),
        (["simulate", "um99"], 2, "meterctl: error: \"um99\" is not a model\n"),
        (["simulate", "um25c", "--fault", "fire"], 2, "meterctl: error: \"fire\" is not a fault\n"),
        (["replay", "/nonexistent"], 1, "meterctl: error: /nonexistent cannot be read\n"),
        (["set", "bench", "name"], 2, "meterctl: error: \"name\" is not of the form key=value\n"),
        (["scan", "--socket", "/nonexistent/s"], 7, "meterctl: error: no meterd answers on /nonexistent/s\n"),
        (
            ["simulate", "um25c", "--link", "/nonexistent/x"], 1,
            "meterctl: error: there is no folder for /nonexistent/x\n"
        ),
        (
            ["simulate", "um25c", "--link", "/dev/null"], 1,
            "meterctl: error: /dev/null is there already and is not a link, so it is left alone\n"
        ),
        (["simulate", "um25c", "--proxy", "air"], 2, "meterctl: error: \"air\" is not an address with a port\n"),
        (
            ["simulate", "um25c", "--proxy", "127.0.0.1:0", "--proxy-key", "/dev/null"], 2,
            "meterctl: error: /dev/null has no key of a proxy in its first line\n"
        ),
        (["simulate", "um25c", "--over", "air"], 2, "meterctl: error: \"air\" is not a kind of link\n"),
        (
            ["simulate", "tc66", "--over", "ble", "--stdio"], 1,
            "meterctl: error: there is no simulation of a TC66 over ble\n"
        ),
        (["web", "url", "--socket", "/nonexistent/s"], 7, "meterctl: error: no meterd answers on /nonexistent/s\n"),
        (
            ["profiler"], 2,
            "meterctl: error: name meters, and perhaps --for or a stretch of time; or give --end alone\n"
        ),
        (["profiler", "bench", "--end"], 2, "meterctl: error: name meters"),
        (["profiler", "bench", "--for", "8h", "--from", "2h"], 2, "meterctl: error: name meters"),
        (["who", "--socket", "/nonexistent/s"], 7, "meterctl: error: no meterd answers on /nonexistent/s\n"),
        (
            ["record", "list", "--socket", "/nonexistent/s"], 7,
            "meterctl: error: no meterd answers on /nonexistent/s\n"
        ),
        (
            ["forget", "bench"], 2,
            "meterctl: error: there is no terminal to ask whether to forget bench, its settings on all hosts of the cloud\n"
        ),
        (["forget", "bench", "--yes", "--socket", "/nonexistent/s"], 7, "meterctl: error: no meterd answers on"),
        (
            ["command", "bench", "clear-group"], 2,
            "meterctl: error: there is no terminal to ask whether to send clear-group to bench, which empties what it has counted, for good\n"
        ),
        (
            ["command", "bench", "enter"], 2,
            "meterctl: error: there is no terminal to ask whether to send enter to bench, which on a load switches it on or off\n"
        ),
        (
            ["command", "bench", "load-on"], 2,
            "meterctl: error: there is no terminal to ask whether to send load-on to bench, after"
        ),
        (
            ["battery-test", "start", "bench", "--load", "1.5A", "--cutoff", "3.0V"], 2,
            "meterctl: error: there is no terminal to ask whether to draw 1.5A from what is connected to bench, down to 3.0V, also"
        ),
        (
            [
                "battery-test", "start", "bench", "--load", "1.5A", "--cutoff", "3.0V", "--at-most", "8h",
                "--on-link-loss", "off", "--yes", "--socket", "/nonexistent/s",
            ], 7, "meterctl: error: no meterd answers on"
        ),
        (
            ["command", "bench", "clear-all", "--yes", "--socket", "/nonexistent/s"], 7,
            "meterctl: error: no meterd answers on"
        ),
        (["command", "bench", "rotate", "--socket", "/nonexistent/s"], 7, "meterctl: error: no meterd answers on"),
        (
            ["sync", "parked", "drop", "a3"], 2,
            "meterctl: error: there is no terminal to ask whether to take a3 from the list of what was parked for good\n"
        ),
        (["stauts"], 2, "meterctl: error: no command is called \"stauts\"\ndid you mean meterctl status?\n"),
        (
            ["record", "lst"], 2,
            "meterctl: error: no command is called \"record lst\"\ndid you mean meterctl record list?\n"
        ),
        (["frobnicate"], 2, "meterctl: error: no command is called \"frobnicate\"\nthe commands are scan, connect, "),
        (
            ["decode", "--model", "um52c"], 2,
            "meterctl: error: no decoder is called \"um52c\"\ndid you mean um25c? The models are "
        ),
        (["simulate", "km03c"], 2, "meterctl: error: \"km03c\" is not a model\ndid you mean km003c? The models are "),
        (["record", "delete", ""], 2, "meterctl: error: \"\" names no recording\n"),
        (["record", "show", ""], 2, "meterctl: error: \"\" names no recording\n"),
        (["sync", "--socket", "/nonexistent/s"], 7, "meterctl: error: no meterd answers on /nonexistent/s\n"),
        (["cloud", "--socket", "/nonexistent/s"], 7, "meterctl: error: no meterd answers on /nonexistent/s\n"),
        (
            ["cloud", "join", "https://pi", "--token-file", "/nonexistent"], 1,
            "meterctl: error: /nonexistent cannot be read\n"
        ),
        (
            ["cloud", "join", "https://pi", "--token-file", "/dev/null"], 2,
            "meterctl: error: /dev/null holds no token, which is one word\n"
        ),
    ])
    func error_isOneLineOnWhatFailed_andOneOnWhatToDo(_ arguments: [String], _ status: Int32, _ first: String) throws {
        let run = try Program.run(arguments)

        #expect(run.status == status)
        #expect(run.output.isEmpty)
        #expect(run.talk.hasPrefix(first))
        #expect(run.talk.split(separator: "\n").count == 2)
    }

    @Test(
        arguments: [
            ["connect"], ["frobnicate"], ["watch", "bench", "--json", "--csv"], ["scan", "--for", "soon"],
            ["command", "bench"], ["simulate", "um25c", "--every", "0"],
            ["simulate", "um25c", "--framed"], ["simulate", "um25c", "--bunched"],
            ["simulate", "um25c", "--over", "ble"], ["simulate", "um25c", "--proxy", "127.0.0.1:0", "--pty"],
            ["simulate", "um25c", "--stdio", "--pty"], ["cloud", "join", "https://pi"],
            ["connect", "bench", "--queue=soon"], ["history"],
            ["connect", "bench", "--no-lease", "--takeover"], ["connect", "bench", "--detach", "--queue"],
            ["history", "bench", "--limit", "0"], ["sync", "sideways"],
            ["record", "start"], ["record", "stop"], ["record", "show"], ["record", "plot"], ["record", "rewind"],
            ["record", "export", "1a2b", "--csv", "--json"],
            ["battery-test", "start", "bench"], ["battery-test", "start", "bench", "--load", "1.5A"],
            ["battery-test", "start", "bench", "--until", "voltage < 3V", "--cutoff", "3V"],
            ["battery-test", "start", "bench", "--until", "voltage < 3V", "--at-most", "8h"],
            ["battery-test", "start", "bench", "--until", "voltage < 3V", "--on-link-loss", "off"],
            ["battery-test", "start", "bench", "--load", "1A", "--cutoff", "3V", "--start-above", "1A"],
        ] as [[String]])
    func wrongUsage_exitsWith2(_ arguments: [String]) throws {
        #expect(try Program.run(arguments).status == 2)
    }

    @Test func decode_waits_whenItsReaderIsSlow() throws {
        let frames = 200
        let stdout = Pipe()
        let writing = stdout.fileHandleForWriting
        #expect(fcntl(writing.fileDescriptor, F_SETFL, O_NONBLOCK) == 0)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Program.path))
        process.arguments = ["decode", "--model", "um25c", "--json"]
        let stdin = Pipe()
        (process.standardInput, process.standardOutput) = (stdin, stdout)
        try process.run()
        try writing.close()

        // The input fits its pipe's buffer; the output is several times that of the other.
        let block = Data(DecodedFrameTests.block)
        try stdin.fileHandleForWriting.write(contentsOf: (0..<frames).reduce(into: Data()) { data, _ in data += block })
        try stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()

        #expect(process.terminationStatus == 0)
        #expect(output.count > 2 * 65_536)
        #expect(output.count(where: { $0 == UInt8(ascii: "\n") }) == frames)
    }

    @Test func version_fails_whereNothingCanBeWritten() throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))

        let run = try Program.run(["version", "--json"], output: full)

        #expect(run.status == 1)
        #expect(
            run.talk.hasPrefix("meterctl: error: standard output cannot be written: No space left on device"))
        #expect(run.talk.split(separator: "\n").count == 2)
    }

    @Test func output_endsQuietly_whenItsReaderLeaves() throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()

        let run = try Program.run(["version", "--json"], output: pipe.fileHandleForWriting)

        #expect(run.status == 0)
        #expect(run.talk.isEmpty)
    }

    @Test func replay_fails_whereNoMessageIs() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString.prefix(8))")
        try Data(
            #"{"format":"meter-capture","meter":"bench","model":"um25c","started":"2026-11-21T13:40:05Z","version":1}"#
                .utf8
        ).write(to: file)
        // In the folder of temporary files a leftover does no harm.
        defer { try? FileManager.default.removeItem(at: file) }

        let run = try Program.run(["replay", file.path])

        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.talk.hasPrefix("meterctl: error: \(file.path) holds no message\n"))
    }

    @Test(arguments: [
        ("um25c", "connect it: meterctl connect /dev/pts/"), ("fnb58", "meterd cannot read a FNB58 over a serial port"),
    ])
    func simulate_saysHowToConnect_whatCanBeConnected(_ model: String, _ words: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Program.path))
        process.arguments = ["simulate", model]
        let stderr = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = stderr
        try process.run()

        let talk = String(decoding: stderr.fileHandleForReading.availableData, as: UTF8.self)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()

        #expect(talk.hasPrefix(words))
    }

    @Test func simulate_speaksOnStandardInputAndOutput_untilTheInputEnds() throws {
        let run = try Program.run(["simulate", "um24c", "--stdio"], input: Data([0xF0]))

        #expect(run.status == 0)
        #expect(run.talk.isEmpty)
        #expect(run.bytes.count == 130)
        #expect(run.bytes.starts(with: [0x09, 0x63]))
    }

    @Test func simulate_framesEachMessage_whenAskedTo() throws {
        let arguments = ["simulate", "um24c", "--over", "ble", "--stdio", "--framed"]
        let run = try Program.run(arguments, input: Data([0x00, 0x01, 0xF0]))

        #expect(run.status == 0)
        // Six notifications of 20 bytes and one of 10, each behind its length.
        #expect(run.bytes.count == 130 + 7 * 2)
        #expect(run.bytes.starts(with: [0x00, 20, 0x09, 0x63]))
        #expect(Array(run.bytes[132...133]) == [0x00, 10])
    }

    @Test func version_needsNoDaemon() throws {
        let run = try Program.run(["version", "--socket", "/nonexistent/s"])

        #expect(run.status == 0)
        #expect(run.output.hasPrefix("meterctl 0.1.0 ("))
        #expect(run.output.split(separator: "\n").count == 1)
    }
}

/// meterctl, where it was built.
enum Program {
    struct Run {
        var status: Int32
        /// What it wrote to standard output, and the same as text.
        var bytes: Data
        var output: String { String(decoding: bytes, as: UTF8.self) }
        var talk: String
    }

    /// Beside the test program, or nil.
    static let path = built("meterctl")
    static let daemonPath = built("meterd")

    private static func built(_ name: String) -> String? {
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            // Then there is no path, and the suite says that it is skipped.
            return nil
        }
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name).path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    static func run(_ arguments: [String], input: String) throws -> Run { try run(arguments, input: Data(input.utf8)) }

    /// - Parameter output: where its output goes instead of into the result.
    static func run(
        _ arguments: [String], input: Data = Data(), output: FileHandle? = nil, environment: [String: String] = [:]
    ) throws -> Run {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(path))
        process.arguments = arguments
        process.environment = environment.merging(["PATH": "/usr/bin:/bin", "COLUMNS": "80"]) { $1 }
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        process.standardInput = stdin
        if let output { process.standardOutput = output } else { process.standardOutput = stdout }
        process.standardError = stderr
        try process.run()
        if output != nil { try stdout.fileHandleForWriting.close() }
        // All of it fits the pipes' buffers, so that one after the other is enough.
        try stdin.fileHandleForWriting.write(contentsOf: input)
        try stdin.fileHandleForWriting.close()
        let data = stdout.fileHandleForReading.readDataToEndOfFile()
        let talk = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Run(
            status: process.terminationStatus, bytes: data,
            talk: String(decoding: talk, as: UTF8.self))
    }

    static let help = """
        OVERVIEW: Show, connect and command USB power meters through meterd.

        METER is a meter's id or MAC address in any form, its name, or an unambiguous
        prefix of one of these. METER can also be a model that only one meter has.

        Exit codes: 0 ok, 1 error, 2 usage, 3 no such meter, 4 meter held by another
        host, 5 timed out, 6 no permission, 7 daemon not running. meterctl assert also
        uses 8 (a limit is broken) and 9 (a limit is undecided). meterctl assert and
        meterctl mark use 10 if the program that they run fails.

        USAGE: meterctl <subcommand>

        OPTIONS:
          --version               Show the version.
          -h, --help              Show help information.

        SUBCOMMANDS:
          scan                    List the meters that are reachable now, connected or
                                  not.
          connect                 Connect a meter, now and after reboots.
          disconnect              Disconnect a meter until the next connect.
          forget                  Forget a meter: delete its settings on all hosts, and
                                  its entry on this host.
          alias                   Make an id an alias of a meter, on all hosts.
          unalias                 Remove an alias, on all hosts.
          status                  Show every meter: state, holder, last reading with
                                  its age, and errors.
          top                     Show all meters on the full screen, live.
          who                     Show which host has which meter, and until when.
          watch                   Print live readings of a meter connected to any host.
          set                     Change settings of a meter.
          get                     Show each setting of a meter with its value, its
                                  default, its author and the time of the change.
          history                 Show overwritten values of a meter's settings, with
                                  time and author.
          stretch                 Show statistics over a stretch of time: charge,
                                  energy, and the distribution of each quantity.
          assert                  Check a meter's readings against limits, with an exit
                                  code for scripts and CI.
          export                  Export the stored readings of a stretch of time, as
                                  CSV or one JSON object per line.
          import                  Import a file as a recording: CSV or JSON of
                                  meterctl, or files of other programs.
          command                 Send a command to a meter.
          pd                      Show the USB Power Delivery messages that a meter
                                  captures: offers, requests and contracts.
          log                     Show the events of a meter: its holders, states,
                                  settings and commands.
          logs                    Read the logs that a meter recorded itself (KM003C,
                                  KM002C).
          record                  Start, stop, keep, list, show, export, plot, rename,
                                  note or delete recordings.
          mark                    Mark moments and spans on a meter's timeline, and
                                  list, rename or delete these marks.
          battery-test            Start, stop, list or show battery tests, which
                                  measure a battery's capacity until a cut-off.
          alert                   Add, list, show, remove or test alerts.
          sync                    Sync settings with the cloud, or show, cancel or
                                  resume the sync.
          rebuild                 Merge records that are stored under several names of
                                  one meter.
          cloud                   Join or leave a cloud, show its status, or retire
                                  another host.
          web                     Show the address of the web page, or open the page to
                                  the network with a login.
          profiler                Show the power of meters in the Firefox Profiler: in
                                  each new profile, or for a past period.
          doctor                  Diagnose problems, and suggest what to do.
          decode                  Decode raw bytes of a meter, with no hardware and no
                                  daemon.
          identify                Identify meters from descriptions of USB or Bluetooth
                                  devices, without hardware or meterd.
          simulate                Simulate a meter with its real protocol on a
                                  pseudo-terminal.
          capture                 Record the raw traffic of a meter, for support and
                                  tests.
          replay                  Replay a capture on a pseudo-terminal, as the meter
                                  would send it.
          version                 Show the version, commit and build.

          See 'meterctl help <subcommand>' for detailed help.

        """
}

import Foundation
import MeterModel
import Testing

/// The built program, run as a person runs it.
@Suite(.enabled(if: Program.path != nil, "meterctl was not built beside the tests"), .timeLimit(.minutes(2)))
struct ProgramTests {
    @Test func help_isThisText() throws {
        let run = try Program.run(["--help"])

        #expect(run.status == 0)
        #expect(run.output == Program.help)
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
        #expect(run.talk.hasSuffix("is the model right?\n"))
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
        (["simulate", "um99"], 2, "meterctl: error: \"um99\" is no model\n"),
        (["simulate", "um25c", "--fault", "fire"], 2, "meterctl: error: \"fire\" is no fault\n"),
        (["replay", "/nonexistent"], 1, "meterctl: error: /nonexistent cannot be read\n"),
        (["set", "bench", "name"], 2, "meterctl: error: \"name\" is no key=value\n"),
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
            [], ["connect"], ["frobnicate"], ["watch", "bench", "--json", "--csv"], ["scan", "--for", "soon"],
            ["command", "bench"],
        ] as [[String]])
    func wrongUsage_exitsWith2(_ arguments: [String]) throws {
        // Without a subcommand the help is the answer, which is no error.
        let expected: Int32 = arguments.isEmpty ? 0 : 2

        #expect(try Program.run(arguments).status == expected)
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
        var output: String
        var talk: String
    }

    /// Beside the test program, or nil.
    static let path: String? = {
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            // Then there is no path, and the suite says that it is skipped.
            return nil
        }
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("meterctl").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    static func run(_ arguments: [String], input: String) throws -> Run { try run(arguments, input: Data(input.utf8)) }

    static func run(_ arguments: [String], input: Data = Data()) throws -> Run {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(path))
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "COLUMNS": "80"]
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        // All of it fits the pipes' buffers, so that one after the other is enough.
        try stdin.fileHandleForWriting.write(contentsOf: input)
        try stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        let talk = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Run(
            status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
            talk: String(decoding: talk, as: UTF8.self))
    }

    static let help = """
        OVERVIEW: Shows, connects and commands USB power meters through meterd.

        METER is an id or MAC address in any form, a name, or an unambiguous prefix of
        either.

        Exit codes: 0 ok, 1 error, 2 usage, 3 no such meter, 4 held elsewhere, 5 timed
        out, 6 no permission, 7 daemon not running.

        USAGE: meterctl <subcommand>

        OPTIONS:
          -h, --help              Show help information.

        SUBCOMMANDS:
          scan                    Meters that are there now, connected or not.
          connect                 Want this meter connected, now and after reboots.
          disconnect              Let this meter go; it is not reconnected until the
                                  next connect.
          status                  Every meter: state, last reading and its age, what is
                                  wrong.
          watch                   Live readings of one meter, one line each.
          set                     Change settings of a meter.
          get                     Settings of a meter.
          command                 Send a command to a meter.
          decode                  Decode raw bytes of a meter, with no hardware and no
                                  daemon.
          simulate                A meter that speaks the real protocol on a
                                  pseudo-terminal.
          capture                 Record the raw traffic of a meter, for support and
                                  tests.
          replay                  Serve a capture on a pseudo-terminal, as if the meter
                                  were there.
          version                 Version, commit and build.

          See 'meterctl help <subcommand>' for detailed help.

        """
}

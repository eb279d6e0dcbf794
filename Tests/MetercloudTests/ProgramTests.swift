import Foundation
import MeterTestKit
import Testing

/// The built program, run as a person runs it.
@Suite(.enabled(if: Program.path != nil, "metercloud was not built: make build"), .timeLimit(.minutes(10)))
struct ProgramTests {
    @Test func help_isThisText() throws {
        let run = try Program.run(["--help"])

        #expect(run.status == 0)
        #expect(run.output == Program.help)
        #expect(run.talk.isEmpty)
    }

    @Test func cloud_startsWithOneCommand_isAdministered_andStops() throws {
        let folder = try TemporaryFolder()
        let data = ["--data", "\(folder.path)/cloud"]
        let server = try RunningProgram(["serve", "--listen", "127.0.0.1:0"] + data)

        let line = try server.output(until: "sha256:")
        #expect(line.hasPrefix("A host joins with:\n  meterctl cloud join https://127.0.0.1:"))
        #expect(line.contains(" --token-file \(folder.path)/cloud/enrolment.token --pin sha256:"))
        #expect(
            try Program.run(["zone", "list"] + data).output
                == """
                ZONE  POLICY  TTL    LOCK-DELAY  CHANGES  USED         RECORDS      LEASES
                home  keep    2 min  15 s        0        0 of 100 MB  0 of 200000  0 of 100000

                """)
        let limited = try Program.run(["zone", "set", "home", "--max-megabytes", "8", "--host-records", "7"] + data)
        #expect(limited.output.contains("0 of 8 MB  0 of 200000"))
        let shown = try Program.run(["zone", "show", "home", "--json"] + data).output
        #expect(shown.contains(#""host_max_bytes" : 2097152"#))
        #expect(shown.contains(#""host_max_records" : 7"#))
        #expect(try Program.run(["zone", "create", "lab", "--policy", "strict"] + data).status == 0)
        let token = try Program.run(["token", "create", "--zone", "lab", "--label", "x"] + data)
        #expect(token.output.hasPrefix("mgt_"))
        #expect(token.output.count == 48)
        #expect(token.talk.hasSuffix(" for the zone lab; its text is shown here and never again\n"))
        let looker = try Program.run(["token", "create", "--read-only", "--enrolment", "--zone", "lab"] + data)
        #expect(looker.output.hasPrefix("mgt_"))
        #expect(looker.talk.hasPrefix("read-only token "))
        let listed = try Program.run(["token", "list", "--zone", "lab", "--json"] + data).output
        #expect(listed.contains(#""role" : "readOnly""#) && listed.contains(#""role" : "full""#))
        let backup = try Program.run(["backup", "\(folder.path)/backup"] + data)
        #expect(backup.talk == "\(folder.path)/backup is written\n")
        #expect(try Program.mode(of: "\(folder.path)/backup") == 0o600)
        let second = try Program.run(["serve", "--listen", "127.0.0.1:0"] + data)
        #expect(second.status == 1)
        #expect(second.talk.hasPrefix("metercloud: error: another metercloud serves \(folder.path)/cloud\n"))
        #expect(try Program.run(["restore", "\(folder.path)/backup"] + data).status == 1)

        #expect(server.stop() == 0)

        // The same commands do without a server.
        #expect(try Program.run(["zone", "show", "lab"] + data).output.contains("lab   strict  2 min  15 s"))
        #expect(try Program.run(["token", "list"] + data).output.split(separator: "\n").count == 4)
        let restored = try Program.run(["restore", "\(folder.path)/backup"] + data)
        #expect(restored.status == 0)
        #expect(restored.talk.hasPrefix("2 zones, 0 records and 0 leases are restored\n"))
    }

    @Test func migrate_saysWhatItNeeds() throws {
        let folder = try TemporaryFolder()
        let target = ["--etcd", "http://127.0.0.1:1"]
        let data = ["--data", "\(folder.path)/cloud"]

        #expect(try Program.run(["migrate"] + data).status == 2)
        let empty = try Program.run(["migrate"] + data + target)
        #expect(empty.status == 1)
        #expect(empty.talk.hasPrefix("metercloud: error: \(folder.path)/cloud has no cloud in it\n"))
        let server = try RunningProgram(["serve", "--listen", "127.0.0.1:0"] + data)
        _ = try server.output(until: "sha256:")
        let early = try Program.run(["migrate"] + data + target)
        #expect(early.status == 1)
        #expect(early.talk.contains("is in use by process "))
        #expect(server.stop() == 0)
    }

    @Test func folder_isForItsOwnerAlone() throws {
        let folder = try TemporaryFolder()
        let data = "\(folder.path)/cloud"
        let server = try RunningProgram(["serve", "--listen", "127.0.0.1:0", "--no-tls", "--data", data])
        _ = try server.output(until: "enrolment.token")

        #expect(try Program.mode(of: data) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: data) {
            #expect(try Program.mode(of: "\(data)/\(name)") == 0o600, "\(name)")
        }
        #expect(server.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(data)/console.sock"))
    }

    @Test func portInUse_isSaid_withWhatToDo() throws {
        let folder = try TemporaryFolder()
        let server = try RunningProgram(["serve", "--listen", "127.0.0.1:0", "--data", "\(folder.path)/a"])
        let line = try server.output(until: " --token-file")
        let port = try #require(line.firstMatch(of: /127\.0\.0\.1:(\d+)/)?.output.1)

        let second = try Program.run(["serve", "--listen", "127.0.0.1:\(port)", "--data", "\(folder.path)/b"])

        #expect(second.status == 1)
        #expect(second.output.isEmpty)
        #expect(second.talk.hasPrefix("metercloud: error: 127.0.0.1:\(port) cannot be served: "))
        #expect(
            second.talk.hasSuffix(
                "\nis another program on that port? metercloud serve --listen ADDRESS:PORT takes another\n"))
        #expect(server.stop() == 0)
    }

    @Test(
        arguments: [
            (
                ["zone", "list", "--data", "/nonexistent"], Int32(1),
                "metercloud: error: there is no cloud in /nonexistent\n"
                    + "start it with metercloud serve, or name its folder with --data\n"
            ),
            (
                ["restore", "/nonexistent", "--data", "/dev/null"], 1, nil
            ),
            (["frobnicate"], 2, nil), (["serve", "--listen", "nowhere"], 2, nil), (["token", "revoke"], 2, nil),
        ] as [([String], Int32, String?)])
    func error_saysWhatFailed_andWhatToDo(arguments: [String], status: Int32, talk: String?) throws {
        let run = try Program.run(arguments)

        #expect(run.status == status)
        #expect(run.output.isEmpty)
        #expect(run.talk.hasPrefix("metercloud: error: "))
        if let talk { #expect(run.talk == talk) }
    }

    @Test func token_goesToAFile_forItsOwnerAlone() throws {
        let folder = try TemporaryFolder()
        let data = ["--data", "\(folder.path)/cloud"]
        let server = try RunningProgram(["serve", "--listen", "127.0.0.1:0"] + data)
        _ = try server.output(until: "sha256:")
        let path = "\(folder.path)/t"

        let made = try Program.run(["token", "create", "--enrolment", "-o", path] + data)
        let again = try Program.run(["token", "create", "-o", path] + data)

        #expect(made.status == 0)
        #expect(made.output.isEmpty)
        #expect(made.talk.hasSuffix("; its text is in \(path) and nowhere else\n"))
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("mgt_"))
        #expect(try Program.mode(of: path) == 0o600)
        #expect(again.status == 1)
        #expect(again.talk.contains("choose a path where nothing is yet"))
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("mgt_"))
        #expect(server.stop() == 0)
    }
}

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
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("metercloud").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    static func process(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(path))
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "COLUMNS": "80"]
        process.standardInput = FileHandle.nullDevice
        return process
    }

    static func run(_ arguments: [String]) throws -> Run {
        let process = try process(arguments)
        let (stdout, stderr) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (stdout, stderr)
        try process.run()
        // All of it fits the pipes' buffers, so that one after the other is enough.
        let data = stdout.fileHandleForReading.readDataToEndOfFile()
        let talk = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Run(
            status: process.terminationStatus, output: String(decoding: data, as: UTF8.self),
            talk: String(decoding: talk, as: UTF8.self))
    }

    static func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    static let help = """
        OVERVIEW: Store the settings of meters for several hosts, and grant each meter
        to one host.

        To begin, run metercloud serve. It creates its folder and certificate, and
        prints the command that joins a host. The other commands work on the server's
        machine, whether the server is running or not.

        Exit codes: 0 ok, 1 error, 2 usage, 6 no permission.

        USAGE: metercloud <subcommand>

        OPTIONS:
          --version               Show the version.
          -h, --help              Show help information.

        SUBCOMMANDS:
          serve                   Run the cloud server until it is stopped.
          zone                    Create, show, list or change zones, whose hosts share
                                  settings and leases.
          record                  List, show or delete records: the settings that hosts
                                  store in the cloud.
          host                    List or remove the hosts of a zone.
          lease                   List or revoke leases, each of which grants a meter
                                  to one host.
          token                   Create, list or revoke the tokens with which hosts
                                  log in.
          backup                  Write a backup to a new file. The server may be
                                  running.
          restore                 Replace the cloud with a backup. The server must not
                                  be running.
          migrate                 Move a cloud from its file into etcd. The server must
                                  not be running.

          See 'metercloud help <subcommand>' for detailed help.

        """
}

/// A server that runs beside the test, and not longer.
final class RunningProgram {
    private let process: Process
    private let stdout = Pipe()

    init(_ arguments: [String]) throws {
        process = try Program.process(arguments)
        process.standardOutput = stdout
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// What it has printed, once `text` is in it and the line is whole.
    func output(until text: String) throws -> String {
        var all = ""
        while !all.contains(text) || !all.hasSuffix("\n") {
            // A server that says nothing fails the test and does not hang it.
            var state = pollfd(fd: stdout.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            try #require(poll(&state, 1, 90_000) == 1, "it says no more than: \(all)")
            let data = stdout.fileHandleForReading.availableData
            try #require(!data.isEmpty, "it ended: \(all)")
            all += String(decoding: data, as: UTF8.self)
        }
        return all
    }

    /// Asks it to stop, and returns its status.
    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }
}

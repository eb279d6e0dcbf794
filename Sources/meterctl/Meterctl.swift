import ArgumentParser
import GatewayAPI
import ProgramKit

package enum MeterctlProgram {
    package static func main() async { await Meterctl.main() }
}

struct Meterctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "meterctl",
        abstract: "Show, connect and command USB power meters through meterd.",
        discussion: """
            METER is a meter's id or MAC address in any form, its name, or an unambiguous prefix of one of these. \
            METER can also be a model that only one meter has.

            Exit codes: 0 ok, 1 error, 2 usage, 3 no such meter, 4 meter held by another host, 5 timed out, 6 no \
            permission, 7 daemon not running. meterctl assert also uses 8 (a limit is broken) and 9 (a limit is \
            undecided). meterctl assert and meterctl mark use 10 if the program that they run fails.
            """,
        version: """
            meterctl \(VersionBody.current.version) (\(VersionBody.current.commit), \(VersionBody.current.build))
            """,
        subcommands: [
            Scan.self, Connect.self, Disconnect.self, Forget.self, Alias.self, Unalias.self, Status.self, Top.self,
            Who.self,
            Watch.self, Set.self,
            Get.self, History.self, Stretch.self, Assert.self, Export.self, Import.self, Command.self, PD.self,
            Log.self, Logs.self,
            Record.self, MarkCommand.self, BatteryTest.self,
            Alert.self, Sync.self,
            Rebuild.self, Cloud.self,
            Web.self, Profiler.self,
            Doctor.self, Decode.self, Identify.self,
            Simulate.self,
            Capture.self, Replay.self, Version.self,
        ]
    )

    func run() async throws {
        let daemon = FirstSteps.Daemon.onThisMachine
        do {
            let status: GatewayStatus = try await DaemonOptions.parse([]).client.call(.get, "/v1/status")
            Terminal.line(FirstSteps.text(status, daemon: daemon, path: TypedProgram.own), linesKept: true)
        } catch let failure as CommandFailure where failure.status == .daemonNotRunning {
            Terminal.line(FirstSteps.text(nil, daemon: daemon, path: TypedProgram.own), linesKept: true)
            Terminal.exit(.daemonNotRunning)
        }
    }

    static func command(for arguments: [String]) async throws -> any ParsableCommand {
        try CommandNames.check(arguments, in: self)
        return try await asyncParseAsRoot(ProgramOption.spelledOut(Connect.spelledOut(arguments)))
    }

    static func main() async {
        await runProgram(next: "use meterctl and meterd of one version") {
            try await command(for: Array(CommandLine.arguments.dropFirst()))
        }
    }
}

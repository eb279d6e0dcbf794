import ArgumentParser
import Glibc

@main
struct Meterctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "meterctl",
        abstract: "Shows, connects and commands USB power meters through meterd.",
        discussion: """
            METER is an id or MAC address in any form, a name, or an unambiguous prefix of either.

            Exit codes: 0 ok, 1 error, 2 usage, 3 no such meter, 4 held elsewhere, 5 timed out, 6 no permission, \
            7 daemon not running.
            """,
        subcommands: [
            Scan.self, Connect.self, Disconnect.self, Status.self, Who.self, Watch.self, Set.self, Get.self,
            History.self, Command.self, Sync.self, Rebuild.self, Cloud.self, Decode.self, Simulate.self, Capture.self,
            Replay.self, Version.self,
        ]
    )

    static func command(for arguments: [String]) throws -> any ParsableCommand {
        try parseAsRoot(Connect.spelledOut(arguments))
    }

    /// As the library's own, but with this project's exit code for wrong usage and its form of errors.
    static func main() async {
        // A reader that went away then shows as EPIPE, which is told from a full disk (see Terminal.data).
        _ = signal(SIGPIPE, SIG_IGN)
        do {
            var command = try command(for: Array(CommandLine.arguments.dropFirst()))
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            failure.print()
            Glibc.exit(failure.exitCode)
        } catch {
            switch exitCode(for: error) {
            case .validationFailure:
                let words = fullMessage(for: error)
                let plain = words.hasPrefix("Error: ") ? "meterctl: error: \(words.dropFirst(7))" : words
                Terminal.talk(plain)
                Glibc.exit(ExitStatus.usage.rawValue)
            case .failure where !(error is ExitCode):
                // Nobody gave it words of its own; its form is the same all the same.
                let failure = CommandFailure(.error, "\(error)", next: "are meterctl and meterd of one version?")
                failure.print()
                Glibc.exit(failure.exitCode)
            default:
                exit(withError: error)
            }
        }
    }
}

/// The exit codes of spec/cli.md.
enum ExitStatus: Int32 {
    case ok = 0
    case error = 1
    case usage = 2
    case noSuchMeter = 3
    case heldElsewhere = 4
    case timedOut = 5
    case noPermission = 6
    case daemonNotRunning = 7
}

/// An error in the words of spec/cli.md: what failed with which value, and what to do next.
struct CommandFailure: Error, Hashable {
    var status: ExitStatus
    var message: String
    var next: String

    init(_ status: ExitStatus = .error, _ message: String, next: String) {
        self.status = status
        self.message = message
        self.next = next
    }

    var exitCode: Int32 { status.rawValue }

    func print() {
        Terminal.talk("meterctl: error: \(message)")
        Terminal.talk(next)
    }
}

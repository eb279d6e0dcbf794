import ArgumentParser
import GatewayAPI
import Glibc

@main
struct Metercloud: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metercloud",
        abstract: "Keeps the settings of meters for several hosts, and says which host holds which meter.",
        discussion: """
            metercloud serve is all it takes: it makes its folder and certificate, and prints the line with which a \
            host joins. The other commands work on the server's own machine, whether it runs or not.

            Exit codes: 0 ok, 1 error, 2 usage, 6 no permission.
            """,
        version: """
            metercloud \(VersionBody.current.version) (\(VersionBody.current.commit), \(VersionBody.current.build))
            """,
        subcommands: [
            Serve.self, ZoneCommand.self, RecordCommand.self, LeaseCommand.self, TokenCommand.self, Backup.self,
            Restore.self,
        ]
    )

    /// As the library's own, but with this project's exit code for wrong usage and its form of errors.
    static func main() async {
        // A reader that went away then shows as EPIPE, which is told from a full disk (see Terminal.data).
        _ = signal(SIGPIPE, SIG_IGN)
        // The store, its backups and the tokens are for this user alone, whoever makes the files.
        _ = umask(0o077)
        do {
            var command = try parseAsRoot()
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
                Terminal.talk(words.hasPrefix("Error: ") ? "metercloud: error: \(words.dropFirst(7))" : words)
                Glibc.exit(ExitStatus.usage.rawValue)
            case .failure where !(error is ExitCode):
                // Nobody gave it words of its own; its form is the same all the same.
                let failure = CommandFailure(.error, "\(error)", next: "see the log of metercloud serve")
                failure.print()
                Glibc.exit(failure.exitCode)
            default:
                exit(withError: error)
            }
        }
    }
}

/// Those of the exit codes of spec/cli.md that this program has a use for.
enum ExitStatus: Int32 {
    case ok = 0
    case error = 1
    case usage = 2
    case noPermission = 6
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
        Terminal.talk("metercloud: error: \(message)")
        Terminal.talk(next)
    }
}

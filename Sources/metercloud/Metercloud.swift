import ArgumentParser
import GatewayAPI
import Glibc
import ProgramKit

package enum MetercloudProgram {
    package static func main() async { await Metercloud.main() }
}

struct Metercloud: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metercloud",
        abstract: "Store the settings of meters for several hosts, and grant each meter to one host.",
        discussion: """
            To begin, run metercloud serve. It creates its folder and certificate, and prints the command that joins a \
            host. The other commands work on the server's machine, whether the server is running or not.

            Exit codes: 0 ok, 1 error, 2 usage, 6 no permission.
            """,
        version: """
            metercloud \(VersionBody.current.version) (\(VersionBody.current.commit), \(VersionBody.current.build))
            """,
        subcommands: [
            Serve.self, ZoneCommand.self, RecordCommand.self, HostCommand.self, LeaseCommand.self, TokenCommand.self,
            Backup.self, Restore.self, Migrate.self,
        ]
    )

    static func main() async {
        // Only this user may read the store, its backups and the tokens.
        _ = umask(0o077)
        await runProgram(next: "see the log of metercloud serve")
    }
}

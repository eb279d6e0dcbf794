import ArgumentParser
import CloudServer
import CloudStore
import Glibc
import LinuxIO
import ProgramKit

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes a copy of everything to a new file, also while the server runs.",
        discussion: """
            The copy holds settings, leases and the digests of tokens. The certificate's key is not in it: copy \
            key.pem from the folder as well, once, so that hosts know the restored cloud by the same pin.
            """)

    @Argument(help: "Nothing may be there yet.") var file: String
    @OptionGroup var data: DataOptions

    func run() async throws {
        let path = file.absolutePath
        _ = try await ConsoleClient(folder: data.folder).ask(.backup(path: path))
        Terminal.talk("\(path) is written")
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Puts a backup in place of what is there. The server must not run.",
        discussion: """
            What was there is kept beside it. Hosts see that the cloud was restored, fetch everything anew and push \
            what the backup lacks. No meter goes to a new host until every lease given out since is surely over.
            """)

    @Argument(help: "What metercloud backup wrote.") var file: String
    @OptionGroup var data: DataOptions

    func run() async throws {
        var dice = SystemRandomNumberGenerator()
        do throws(CloudStoreError) {
            let report = try CloudRestore.run(
                from: file.absolutePath, into: data.folder.path, at: LinuxClock.wallNow, dice: &dice)
            Terminal.talk("\(report.zones) zones, \(report.records) records and \(report.leases) leases are restored")
            if let replaced = report.replaced { Terminal.talk("what was there before is in \(replaced)") }
            Terminal.talk("start it again with metercloud serve")
        } catch {
            throw CommandFailure(error)
        }
    }
}

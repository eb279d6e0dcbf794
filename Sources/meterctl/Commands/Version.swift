import ArgumentParser
import GatewayAPI
import ProgramKit

struct Version: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Version, commit and build.")

    @OptionGroup var daemon: DaemonOptions
    @Flag(help: "JSON on stdout.")
    var json = false

    func run() async throws {
        let own = VersionBody.current
        if json { return Terminal.exact(try JSONOutput.pretty(own)) }
        Terminal.line("meterctl \(own.version) (\(own.commit), \(own.build))")
        // Without a daemon there is simply no second line.
        if let theirs = try? await daemon.client.call(.get, "/v1/version") as VersionBody {
            Terminal.line("meterd \(theirs.version) (\(theirs.commit), \(theirs.build))")
        }
    }
}

import ArgumentParser
import GatewayAPI
import ProgramKit

struct Version: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the version, commit and build.")

    @OptionGroup var daemon: DaemonOptions
    @OptionGroup var json: JSONOption

    func run() async throws {
        let own = VersionBody.current
        if try json.print(own) { return }
        Terminal.line("meterctl \(own.version) (\(own.commit), \(own.build))")
        if let theirs = try? await daemon.client.call(.get, "/v1/version") as VersionBody {
            Terminal.line("meterd \(theirs.version) (\(theirs.commit), \(theirs.build))")
        }
    }
}

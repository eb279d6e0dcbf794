import ArgumentParser
import GatewayAPI
import MeterModel
import ProgramKit

struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send a command to a meter.",
        discussion: "Commands: \(MeterCommand.Kind.allCases.map(\.rawValue).joined(separator: ", ")). "
            + "A model that does not know one says which it knows."
    )

    @OptionGroup var daemon: DaemonOptions
    @Argument var meter: String
    @Argument(help: "For example next-screen, or brightness 3.")
    var command: String
    @Argument var number: Int?

    func run() async throws {
        let request = CommandRequest(command: command, number: number)
        let status: MeterStatus = try await daemon.client.call(.post, meterPath(meter, "/commands"), body: request)
        Terminal.talk("sent to \(status.name ?? status.id); \(status.model ?? "it") does not confirm commands")
    }
}

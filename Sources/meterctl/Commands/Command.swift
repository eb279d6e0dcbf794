import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send a command to a meter.",
        discussion: """
            Commands: \(MeterCommand.Kind.allCases.map(\.rawValue).joined(separator: ", ")). If the model lacks the \
            command, meterctl lists the commands of the model. Commands that clear a counter, may switch a load or \
            supply a voltage ask for confirmation.

            A command is sent once, now. To send it again at each connect, use the setting with the same effect, if \
            there is one: meterctl set bench brightness=3.
            """
    )

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Argument(help: "The command, such as next-screen or brightness 3.", completion: .meterCommands)
    var command: String
    @Argument(completion: .commandNumbers) var number: Int?
    @OptionGroup var confirmation: ConfirmationOption

    func run() async throws {
        if let deed = Self.deed(command, on: meter) { try confirmation.confirm(deed) }
        let client = daemon.client
        let request = CommandRequest(command: command, number: number)
        let path = try meterPath(meter, "/commands")
        let status: MeterStatus = try await client.call(.post, path, body: request)
        guard command != MeterCommand.Kind.resetEnergy.rawValue else {
            return Terminal.talk("meterd's totals of \(meter) start at zero again")
        }
        // Ignore errors: the command has already been sent.
        let known: CommandsBody? = try? await client.call(.get, path)
        let isConfirmed = known?.commands.first { $0.command == command }?.confirmed ?? false
        Terminal.talk(
            isConfirmed
                ? "\(meter) took \(command), and says so"
                : "sent to \(meter); \(status.model ?? "it") does not confirm commands")
        if let words = Self.howToKeep(request, of: meter, known) { Terminal.talk(words) }
    }

    /// Returns the action that the user must confirm; nil for a harmless command.
    static func deed(_ command: String, on meter: String) -> String? {
        let kind = MeterCommand.Kind(rawValue: command)
        if kind == .resetEnergy {
            return "set what meterd has counted for \(meter), energy and charge, to zero for good"
        }
        return switch kind?.consequence {
        case .destroys: "send \(command) to \(meter), which empties what it has counted, for good"
        case .switches: "send \(command) to \(meter), which on a load switches it on or off"
        case .draws:
            "send \(command) to \(meter), after which more current may be drawn from what is connected to it"
        case .supplies: "send \(command) to \(meter), which puts that voltage on the device connected to it"
        case nil: nil
        }
    }

    /// Returns a hint about the setting that makes the command's effect permanent; nil if there is none.
    static func howToKeep(_ request: CommandRequest, of meter: String, _ known: CommandsBody?) -> String? {
        guard let number = request.number,
            let setting = known?.commands.first(where: { $0.command == request.command })?.setting
        else { return nil }
        return
            "for now: meterctl set \(meter.shellWord) \(setting)=\(number) keeps it, at each connect and on every host"
    }
}

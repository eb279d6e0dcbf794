import ArgumentParser
import CloudAPI
import CloudServer
import ProgramKit

struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "List or remove the hosts of a zone.", subcommands: [List.self, Retire.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all hosts of a zone.")

        @Option(completion: .zones) var zone = CloudFolder.firstZone
        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            let request = ConsoleRequest.hosts(zone: zone)
            guard case .hosts(let hosts) = try await ConsoleClient(folder: data.folder).ask(request) else { return }
            try print(hosts, as: json.isOn, header: HostBody.header, \.cells)
        }
    }

    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a host permanently.",
            discussion: """
                Revokes its tokens and deletes its name on all hosts. Frees its leases at once, or once they expire if \
                the zone has --policy strict. Its settings and recordings stay.
                """)

        @Argument(help: "The host's id, or its name if unique.") var host: String
        @Option(completion: .zones) var zone = CloudFolder.firstZone
        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            let request = ConsoleRequest.retireHost(zone: zone, host: host)
            guard case .host(let host) = try await ConsoleClient(folder: data.folder).ask(request) else { return }
            if try json.print(host) { return }
            Terminal.talk("\(host.name) is retired: \(host.tokens) tokens, \(host.leases.count) leases")
        }
    }
}

extension HostBody {
    fileprivate static let header = ["ID", "NAME", "TOKENS", "MAY", "LEASES", "LISTENS"]

    fileprivate var cells: [String] {
        [
            id, name, "\(tokens)", Formatting.role(role), leases.isEmpty ? "–" : leases.joined(separator: ", "),
            listening ? "yes" : "–",
        ]
    }
}

import ArgumentParser
import CloudAPI
import CloudServer
import ProgramKit

struct LeaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lease", abstract: "List or revoke leases, each of which grants a meter to one host.",
        subcommands: [List.self, Revoke.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all leases of a zone, including those without a holder.")

        @Option(completion: .zones) var zone = CloudFolder.firstZone
        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            let request = ConsoleRequest.leases(zone: zone)
            guard case .leases(let leases) = try await ConsoleClient(folder: data.folder).ask(request) else { return }
            try print(leases.map(LeaseLine.init), as: json.isOn, header: LeaseLine.header, \.cells)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a lease.",
            discussion: """
                The host that has the lease must stop using the meter and cannot renew the lease. The meter is free \
                once that host has stopped, or once the lease and the zone's lock delay have expired.
                """)

        @Argument(help: "Id of the meter, as shown by metercloud lease list.") var meter: String
        @Option(completion: .zones) var zone = CloudFolder.firstZone
        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            let request = ConsoleRequest.revokeLease(zone: zone, meter: meter)
            guard case .lease(let lease) = try await ConsoleClient(folder: data.folder).ask(request) else { return }
            try print([LeaseLine(lease)], as: json.isOn, one: true, header: LeaseLine.header, \.cells)
        }
    }
}

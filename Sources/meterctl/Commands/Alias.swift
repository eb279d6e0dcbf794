import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Alias: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make an id an alias of a meter, on all hosts.",
        discussion: """
            Then ALIAS is another id of METER, as of a meter on a cable and on a radio. Without arguments, lists all \
            aliases. While a host has ALIAS connected, the cloud defers the alias: meterctl sync status.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "The id that becomes an alias.", completion: .meters) var alias: String?
    @Argument(help: "The meter, by the id that becomes or stays the main one.", completion: .meters) var meter: String?
    @OptionGroup var json: JSONOption

    func validate() throws {
        guard (alias == nil) == (meter == nil) else { throw ValidationError("Name the other id and the meter.") }
    }

    func run() async throws {
        guard let alias, let meter else { return try await list() }
        let body: MeterAliasBody = try await daemon.client.call(
            .post, aliasPath(alias), body: AliasRequest(meter: meter))
        if try json.print(body) { return }
        Terminal.talk("\(body.alias) is \(body.meter)")
    }

    private func list() async throws {
        let all: MeterAliases = try await daemon.client.call(.get, "/v1/aliases")
        if try json.print(all) { return }
        guard !all.aliases.isEmpty else { return Terminal.talk("there are no aliases") }
        var table = Table(["ALIAS", "METER"])
        for one in all.aliases { table.add([.init(one.alias), .init(one.meter)]) }
        table.print()
    }
}

struct Unalias: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove an alias, on all hosts.",
        discussion: """
            No host joins the two again by itself. Disconnects the meter first. If ALIAS is a meter that is plugged in here \
            and shares its serial number with another one, this host knows it by its port from then on.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "The alias.", completion: .aliases) var alias: String
    @OptionGroup var json: JSONOption

    func run() async throws {
        let body: MeterAliasBody = try await daemon.client.call(.delete, aliasPath(alias))
        if try json.print(body) { return }
        Terminal.talk("\(body.alias) is not \(body.meter) any more")
    }
}

private func aliasPath(_ alias: String) -> String { "/v1/aliases/\(alias.percentEncoded)" }

import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Alias: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make an id an alias of a meter, on all hosts.",
        discussion: """
            Afterwards, ALIAS is another id of METER. Use this if one meter has two ids, such as one id on a cable \
            and another id over Bluetooth. Without arguments, lists all aliases. The cloud defers the alias while a \
            host is connected to ALIAS; meterctl sync status shows this.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "The id that becomes an alias.", completion: .meters) var alias: String?
    @Argument(help: "The meter that gets the alias. Its id becomes or stays the main id.", completion: .meters)
    var meter: String?
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
            Disconnects the meter first. No host merges the two ids automatically afterwards. If ALIAS is a meter that \
            is plugged in here and has the same serial number as another meter, this host identifies ALIAS by its port \
            from then on.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "Alias to remove.", completion: .aliases) var alias: String
    @OptionGroup var json: JSONOption

    func run() async throws {
        let body: MeterAliasBody = try await daemon.client.call(.delete, aliasPath(alias))
        if try json.print(body) { return }
        Terminal.talk("\(body.alias) is not \(body.meter) any more")
    }
}

private func aliasPath(_ alias: String) -> String { "/v1/aliases/\(alias.percentEncoded)" }

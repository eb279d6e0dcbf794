import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Alias: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say that two ids are one meter, on all hosts.",
        discussion: """
            ALIAS is another id of METER from then on: a meter on a cable and on a radio has two. Without arguments: all \
            that are known. While a host has ALIAS connected the cloud waits with it: meterctl sync status.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "The id that means the meter from now on.", completion: .meters) var alias: String?
    @Argument(help: "The meter, under the id that stays.", completion: .meters) var meter: String?
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
        guard !all.aliases.isEmpty else { return Terminal.talk("no meter has another id") }
        var table = Table(["ALIAS", "METER"])
        for one in all.aliases { table.add([.init(one.alias), .init(one.meter)]) }
        table.print()
    }
}

struct Unalias: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say that an id no longer means another meter, on all hosts.",
        discussion: """
            It lasts: no host makes them one by itself again. The meter is disconnected first. With the id of a meter that is \
            plugged in here, where another one has its serial number: know it by its port from now on, on this host.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "The id that means another meter.", completion: .aliases) var alias: String
    @OptionGroup var json: JSONOption

    func run() async throws {
        let body: MeterAliasBody = try await daemon.client.call(.delete, aliasPath(alias))
        if try json.print(body) { return }
        Terminal.talk("\(body.alias) is not \(body.meter) any more")
    }
}

private func aliasPath(_ alias: String) -> String { "/v1/aliases/\(alias.percentEncoded)" }

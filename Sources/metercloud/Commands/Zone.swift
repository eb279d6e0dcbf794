import ArgumentParser
import CloudAPI
import CloudServer
import Domain
import ProgramKit

struct ZoneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zone", abstract: "Create, show, list or change zones, whose hosts share settings and leases.",
        subcommands: [Create.self, Show.self, List.self, Change.self])

    struct TermOptions: ParsableArguments {
        @Option(
            help:
                """
                Lease policy: keep (a host keeps its link to the meter even if it cannot renew its lease) or strict \
                (two hosts never communicate with one meter at the same time). Default: keep.
                """
        )
        var policy: String?

        @Option(help: "Duration of a lease without renewal, from 30s to 10m. Default: 2m.")
        var ttl: String?

        @Option(help: "Delay between a lease's expiry and a grant to another host; at least --ttl / 8. Default: 15s.")
        var lockDelay: String?

        func validate() throws {
            if let policy, LeasePolicy(rawValue: policy) == nil {
                throw ValidationError("\"\(policy)\" is not a policy; it is keep or strict")
            }
            for (name, text) in [("--ttl", ttl), ("--lock-delay", lockDelay)] {
                guard let text else { continue }
                guard let time = Duration(shortText: text) else {
                    throw ValidationError("\(name) cannot be \"\(text)\"; it takes a time such as 90s or 2m")
                }
                guard name == "--lock-delay" || LeaseTerms.timeToLiveRange.contains(time) else {
                    throw ValidationError("--ttl cannot be \(text); it is from 30s to 10m")
                }
            }
        }

        var terms: ConsoleTerms {
            ConsoleTerms(
                policy: policy, ttl: ttl.flatMap { Duration(shortText: $0) }?.milliseconds,
                lockDelay: lockDelay.flatMap { Duration(shortText: $0) }?.milliseconds)
        }
    }

    /// Options for quotas. A megabyte is 1,048,576 bytes, as in meterd.toml.
    struct QuotaOptions: ParsableArguments {
        @Option(help: "Maximum size of all records in the zone, in megabytes. Default: 100.")
        var maxMegabytes: Int?

        @Option(help: "Maximum number of records in the zone, including deleted records. Default: 200000.")
        var maxRecords: Int?

        @Option(help: "Maximum size of the records of one host, in megabytes. Default: a quarter of the zone's limit.")
        var hostMegabytes: Int?

        @Option(help: "Maximum number of records of one host. Default: a quarter of the zone's limit.")
        var hostRecords: Int?

        @Option(
            help: """
                Maximum number of leases that the zone may ever have, one per meter. Default: half of the limit on \
                records, but at least 10000 and at most 100000.
                """)
        var maxLeases: Int?

        func validate() throws {
            let given = [
                ("--max-megabytes", maxMegabytes), ("--max-records", maxRecords), ("--host-megabytes", hostMegabytes),
                ("--host-records", hostRecords), ("--max-leases", maxLeases),
            ]
            for (name, number) in given {
                if let number, !(1...1_000_000_000).contains(number) {
                    throw ValidationError("\(name) cannot be \(number); it is from 1 to 1000000000")
                }
            }
        }

        var quota: ConsoleQuota {
            ConsoleQuota(
                bytes: maxMegabytes.map { $0 << 20 }, records: maxRecords, hostBytes: hostMegabytes.map { $0 << 20 },
                hostRecords: hostRecords, leases: maxLeases)
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a zone. An existing zone stays unchanged.")

        @Argument(help: "Name of the zone: 1 to 64 of the characters a-z, 0-9, - and _.") var name: String
        @Option(help: "UUID of the zone. To replace a lost cloud, give its zone's old UUID. Default: a new UUID.")
        var id: String?
        @OptionGroup var terms: TermOptions
        @OptionGroup var data: DataOptions

        func run() async throws {
            _ = try await ConsoleClient(folder: data.folder).ask(.createZone(name: name, id: id, terms: terms.terms))
            Terminal.talk("metercloud token create --zone \(name) makes a token for it")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a zone's lease terms, its limits, and the usage of each host.")

        @Argument(completion: .zones) var name: String
        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            guard case .zone(let zone) = try await ConsoleClient(folder: data.folder).ask(.zone(name: name)) else {
                return
            }
            let line = ZoneLine(zone)
            try print([line], as: json.isOn, one: true, header: ZoneLine.header, \.cells)
            guard !json.isOn, !line.hosts.isEmpty else { return }
            try print(line.hosts, as: false, header: ShareLine.header, \.cells)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all zones.")

        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            guard case .zones(let zones) = try await ConsoleClient(folder: data.folder).ask(.zones) else { return }
            try print(zones.map(ZoneLine.init), as: json.isOn, header: ZoneLine.header, \.cells)
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change the terms and limits of a zone.",
            discussion: """
                A change to --policy strict applies to each holder of a lease at its next renewal, after at most half \
                of --ttl. The command lists the holders that have not renewed since. A change to --policy keep, and \
                new values of --ttl and --lock-delay, apply when a meter is next acquired. A new limit applies to \
                later changes; existing data stays.
                """)

        @Argument(completion: .zones) var name: String
        @OptionGroup var terms: TermOptions
        @OptionGroup var quota: QuotaOptions
        @OptionGroup var data: DataOptions

        func validate() throws {
            if terms.terms == ConsoleTerms(), quota.quota == ConsoleQuota() {
                throw ValidationError("nothing to change: give --policy, --ttl, --lock-delay or a limit")
            }
        }

        func run() async throws {
            let client = ConsoleClient(folder: data.folder)
            var changed: ConsoleZone?
            for request in requests {
                guard case .zone(let zone) = try await client.ask(request) else { return }
                changed = zone
            }
            guard let zone = changed else { return }
            try print([ZoneLine(zone)], as: false, header: ZoneLine.header, \.cells)
            guard zone.policy == LeasePolicy.strict.rawValue,
                case .leases(let leases) = try await client.ask(.leases(zone: name))
            else { return }
            for lease in leases where lease.holderID != nil && lease.policy != zone.policy {
                Terminal.line(
                    "\(lease.holderName ?? "a host") has not taken up \(zone.policy) for \(lease.meter) yet: it may go on "
                        + "using it beside another host until it renews")
            }
        }

        private var requests: [ConsoleRequest] {
            var requests: [ConsoleRequest] = []
            if terms.terms != ConsoleTerms() { requests.append(.setTerms(zone: name, terms: terms.terms)) }
            if quota.quota != ConsoleQuota() { requests.append(.setQuota(zone: name, quota: quota.quota)) }
            return requests
        }
    }
}

/// - Parameter one: whether the JSON is a single object instead of a list.
func print<Line: Encodable & SendableMetatype>(
    _ lines: [Line], as json: Bool, one: Bool = false, header: [String], _ cells: (Line) -> [String]
) throws {
    if json {
        Terminal.exact(try one ? lines.first.map(JSONOutput.pretty) ?? "null" : JSONOutput.pretty(lines))
        return
    }
    var table = Table(header)
    for line in lines { table.add(cells(line)) }
    table.print()
}

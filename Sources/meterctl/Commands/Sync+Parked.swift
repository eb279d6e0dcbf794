import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

extension Sync {
    struct Parked: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List, restore or delete quarantined records, which this host keeps and does not sync.",
            discussion: """
                Each record has a reason:

                  refused      The cloud rejected the record. Its values apply on this host.
                  unreadable   The cloud sent the record, but this host cannot store it.
                  unlisted     The cloud did not list the record in a full resync.
                  otherZone    Another host set the record in the zone that this host left.

                Records with the reason unlisted or otherZone expire after 30 days, unless the setting was made on \
                this host.
                """,
            subcommands: [List.self, Restore.self, Drop.self], defaultSubcommand: List.self)

        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "List the quarantined records, newest first.")

            @OptionGroup var daemon: DaemonOptions
            @OptionGroup var times: TimeOptions
            @OptionGroup var json: JSONOption

            func run() async throws {
                let parked: ParkedBody = try await daemon.client.call(.get, "/v1/sync/parked")
                if try json.print(parked) { return }
                guard !parked.entries.isEmpty else { return Terminal.talk("nothing is parked") }
                Self.table(parked, times.text).print()
                Terminal.talk("meterctl sync parked restore ID, or drop ID")
            }

            static func table(_ parked: ParkedBody, _ times: TimeText) -> Table {
                var table = Table(["ID", "REASON", "WHAT", "VALUES", "SINCE", "WHY"], wrapsLast: true)
                for entry in parked.entries {
                    let values = entry.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                    table.add([
                        .init(entry.id), .init("\(entry.reason.rawValue)\(entry.own ? ", own" : "")", .yellow),
                        .init("\(entry.type) \(entry.name)"), .init(values.joined(separator: " ")),
                        .init(times.text(WallTime(millisecondsSince1970: entry.at_ms)), isWhole: true),
                        .init(entry.words),
                    ])
                }
                return table
            }
        }

        struct Restore: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract:
                    "Restore a record with its old date, so that newer values stay, and send it to the cloud.",
                discussion: "A record that the cloud refused is sent again.")

            @OptionGroup var daemon: DaemonOptions
            @Argument(help: "Id of the record, as shown by meterctl sync parked.", completion: .parked)
            var id: String
            @OptionGroup var json: JSONOption

            func run() async throws {
                let answer: ParkedAnswer = try await daemon.client.call(.post, try parkedPath(id) + "/restore")
                if try json.print(answer) { return }
                Terminal.talk("restored \(answer.id): \(answer.properties ?? 0) properties wait to be sent")
            }
        }

        struct Drop: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Delete a quarantined record permanently.",
                discussion: "Values that the cloud refused still apply on this host.")

            @OptionGroup var daemon: DaemonOptions
            @Argument(help: "Id of the record, as shown by meterctl sync parked.", completion: .parked)
            var id: String
            @OptionGroup var confirmation: ConfirmationOption
            @OptionGroup var json: JSONOption

            func run() async throws {
                let path = try parkedPath(id)
                try confirmation.confirm("take \(id) from the list of what was parked for good")
                let answer: ParkedAnswer = try await daemon.client.call(.delete, path)
                if try json.print(answer) { return }
                Terminal.talk("dropped \(answer.id)")
            }
        }
    }
}

/// Accepts letters and digits only, because other characters would change the path.
private func parkedPath(_ id: String) throws -> String {
    guard !id.isEmpty, id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
        throw CommandFailure(.usage, "\"\(id)\" is not the id of a parked entry", next: "meterctl sync parked")
    }
    return "/v1/sync/parked/\(id)"
}

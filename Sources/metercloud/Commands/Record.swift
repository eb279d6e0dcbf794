import ArgumentParser
import CloudAPI
import CloudServer
import Domain
import ProgramKit

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "List, show or delete records: the settings that hosts store in the cloud.",
        subcommands: [List.self, Show.self, Delete.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all records of a zone, including deleted records.")

        @Option(help: "Type of the records: Host, DeviceSettings, MeterAlias, Recording or Mark. Default: all types.")
        var type: String?
        @Option(completion: .zones) var zone = CloudFolder.firstZone
        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            let request = ConsoleRequest.records(zone: zone, type: type)
            guard case .records(let records) = try await ConsoleClient(folder: data.folder).ask(request) else { return }
            try print(records.map(RecordLine.init), as: json.isOn, header: RecordLine.header, \.cells)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a record on all hosts.",
            discussion: "If a host later writes a value of the record, the record exists again with that value alone.")

        @Argument(help: "Type of the record, such as DeviceSettings.") var type: String
        @Argument(help: "Name of the record, such as a meter's id.") var name: String
        @Option(completion: .zones) var zone = CloudFolder.firstZone
        @OptionGroup var data: DataOptions

        func run() async throws {
            let request = ConsoleRequest.deleteRecord(zone: zone, type: type, name: name)
            guard case .record(let record) = try await ConsoleClient(folder: data.folder).ask(request) else { return }
            Terminal.talk("\(type) \(record.key.name) is deleted")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show one record with its properties.")

        @Argument(help: "Type of the record, such as DeviceSettings.") var type: String
        @Argument(help: "Name of the record, such as a meter's id.") var name: String
        @Option(completion: .zones) var zone = CloudFolder.firstZone
        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            let request = ConsoleRequest.record(zone: zone, type: type, name: name)
            guard case .record(let record) = try await ConsoleClient(folder: data.folder).ask(request) else { return }
            if try json.print(record) { return }
            for line in Self.lines(of: record) { Terminal.exact(line) }
        }

        static func lines(of record: SyncRecord) -> [String] {
            var table = Table(["PROPERTY", "VALUE", "WRITTEN", "BY HOST"])
            for (name, register) in record.properties.sorted(by: { $0.key < $1.key }) {
                table.add([
                    name, Formatting.value(register.value), Formatting.time(of: register.stamp),
                    by(register.stamp.host, register.broughtBy),
                ])
            }
            guard let deletion = record.deletion else { return table.lines }
            let whither = deletion.mergedInto.map { "merged into \($0.visible)" } ?? "deleted"
            let author = by(deletion.stamp.host, deletion.broughtBy)
            return table.lines + ["\(whither) at \(Formatting.time(of: deletion.stamp)) by \(author)"]
        }

        private static func by(_ author: HostID, _ bringer: HostID?) -> String {
            bringer.map { "\(author), brought by \($0)" } ?? "\(author)"
        }
    }
}

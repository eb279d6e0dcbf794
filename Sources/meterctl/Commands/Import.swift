import ArgumentParser
import Domain
import GatewayAPI
import Glibc
import LinuxIO
import ProgramKit
import Synchronization

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import a file as a recording: CSV or JSON of meterctl, or files of other programs.",
        discussion: """
            The first line determines the kind of file: CSV or JSON of meterctl export and record export, the CSV of \
            rd-usb, the output of fnirsi_logger.py, the CSV of cfn2csv.py, or a table whose first line names its \
            columns. The file becomes one recording. See Docs/Recordings.md.

              meterctl import phone.csv --meter bench
              meterctl import rd-usb.csv --meter 00:15:A3:00:4C:1F --zone Europe/Berlin
              meterctl import log.csv --meter bench --column time=stamp:ms --column voltage=Vbus:mV
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "File to import, or - for standard input.", completion: .file())
    var file: String
    @Option(
        help: "Meter of the recording: a meter known to this host, or the complete id of any meter.",
        completion: .meters)
    var meter: String?
    @Option(help: "Name of the recording. Default: the file's name.")
    var name: String?
    @Option(name: .customLong("as"), help: "Accept only this kind of file: \(kinds).", completion: .list(allKinds))
    var kind: String?
    @Option(
        name: [.long, .customLong("zone")],
        help: "Time zone for times without a time zone: local, UTC, +02:00, or a name such as Europe/Berlin.")
    var timeZone: String?
    @Option(
        name: .customLong("column"),
        help: ArgumentHelp(
            """
            Column of a quantity, the time or the date: its name in the file, or its number. Repeatable. Examples: \
            voltage=Vbus:mV, date=2, time=stamp:dmy (day, month, year; mdy if the month is first). --column \
            decimal=comma makes 1,5 mean 1.5.
            """,
            valueName: "quantity=name:unit"))
    var columns: [String] = []
    @Option(help: "For a file with relative times: start time of the file, such as 14:30 or \"2026-11-21 14:30\".")
    var start: MomentArgument?
    @Option(help: "For a file of several meters: name, in the file, of the meter to import.")
    var of: String?
    @OptionGroup var times: TimeOptions
    @OptionGroup var json: JSONOption

    private static var allKinds: [String] { ImportFormat.allCases.map(\.rawValue) }
    private static var kinds: String { allKinds.joined(separator: ", ") }

    func validate() throws {
        if let kind, ImportFormat(rawValue: kind) == nil {
            throw ValidationError(
                "no kind of file is called \(kind): \(Self.allKinds.suggestion(for: kind, "there are \(Self.kinds)"))")
        }
        for column in columns {
            do throws(ImportError) {
                var options = ImportOptions()
                try options.add(column: column)
            } catch {
                throw ValidationError("--column: \(error.message); \(error.remedy)")
            }
        }
    }

    func run() async throws {
        let upload = try UploadFile(path: file)
        let zone = try zone(for: upload)
        guard let meter else {
            throw CommandFailure(
                .usage, "the file does not name its meter", next: "add --meter METER; meterctl status lists them")
        }
        let body = try await send(upload, to: try meterPath(meter, "/imports\(query(zone))"))
        if try json.print(body) { return }
        if !body.columns_left_out.isEmpty {
            Terminal.talk("columns left out, as no quantity matches: \(body.columns_left_out.joined(separator: ", "))")
        }
        for remark in body.remarks { Terminal.talk(remark) }
        RecordingText.table(body.recording, times.text).print()
    }

    private func send(_ upload: UploadFile, to path: String) async throws -> ImportBody {
        let shown = Mutex(ProgressLine())
        defer { shown.withLock { $0.end() } }
        return try await daemon.client.upload(path, upload) { part in
            shown.withLock { $0.show("\(Int(part * 100)) % of \(upload.label)") }
        }
    }

    private func query(_ zone: String?) -> String {
        let moment = start.map { $0.time(before: LinuxClock.wallNow, times.text).description }
        let usual = file == "-" ? nil : String(file.fileName.prefix(64))
        let said = [
            ("name", name ?? usual), ("as", kind), ("time_zone", zone), ("start", moment), ("of", of),
        ]
        let parts = (said + columns.map { ("column", $0) }).compactMap { key, value in
            value.map { "\(key)=\($0.percentEncoded)" }
        }
        return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
    }

    /// Parses the first lines like meterd, and asks the user for a missing time zone. Returns nil if the file needs
    /// none.
    private func zone(for upload: UploadFile) throws -> String? {
        var options = ImportOptions(format: kind.flatMap { ImportFormat(rawValue: $0) }, meter: of)
        options.start = start.map { $0.time(before: LinuxClock.wallNow, times.text).millisecondsSince1970 }
        do throws(ImportError) {
            for column in columns { try options.add(column: column) }
            if let named = Self.named(timeZone) { options.zoneOffset = try Self.zones.offset(of: named) }
            var reader = ImportReader(options)
            try reader.read(upload.beginning) { _, _ in }
        } catch {
            guard error.kind == .needsZone, isatty(STDIN_FILENO) == 1, file != "-" else {
                throw CommandFailure(.usage, error.message, next: error.remedy)
            }
            Terminal.talk("\(error.message). Which one is it? local, UTC, +02:00, or such as Europe/Berlin [local]")
            guard let answer = readLine() else {
                throw CommandFailure(.usage, error.message, next: error.remedy)
            }
            return Self.named(answer.isEmpty ? "local" : answer)
        }
        return Self.named(timeZone)
    }

    private static let zones = ImportZones(
        local: { LinuxClock.zoneOffset(at: $0) }, file: { LinuxClock.zoneFile(named: $0) })

    /// Replaces `local` by the `TZ` of meterctl's environment, which meterd cannot read.
    private static func named(_ zone: String?) -> String? {
        guard zone?.lowercased() == "local", let variable = getenv("TZ") else { return zone }
        let own = String(cString: variable)
        let name = own.hasPrefix(":") ? String(own.dropFirst()) : own
        return (try? zones.offset(of: name)) == nil ? zone : name
    }
}

extension String {
    fileprivate var fileName: String {
        let name = split(separator: "/").last.map(String.init) ?? self
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}

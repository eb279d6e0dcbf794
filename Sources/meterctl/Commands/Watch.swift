import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print live readings of a meter connected to any host.")

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @OptionGroup var times: TimeOptions
    @Flag(help: "Print one JSON object per line.")
    var json = false
    @Flag(help: "Print CSV with a header line.")
    var csv = false
    @Flag(
        help:
            "Print every reading. By default, readings of fast meters and of other hosts' meters are averaged."
    )
    var all = false
    @Option(name: .customLong("for"), help: "Stop after this duration, such as 60s.")
    var duration: TimeArgument?

    func validate() throws {
        if json && csv { throw ValidationError("--json and --csv exclude each other") }
    }

    func run() async throws {
        let client = daemon.client
        let status: MeterStatus = try await client.call(.get, meterPath(meter))
        if let words = Formatting.noData(status, called: meter) { Terminal.talk(words) }
        let times = times.text
        try await withTimeLimit(duration?.duration) {
            var printer = ReadingPrinter(form: json ? .json : csv ? .csv : .people(times))
            try await client.lines(meterPath(meter, all ? "/readings?all=true" : "/readings"), as: ReadingLine.self) {
                try printer.print($0)
            }
        }
    }
}

struct ReadingPrinter {
    enum Form {
        case people(TimeText)
        case json, csv
    }

    let form: Form
    private var columns: [Quantity]?
    private var hasMarks = false

    init(form: Form) { self.form = form }

    mutating func print(_ line: ReadingLine) throws {
        if let missed = line.missed { Terminal.talk("\(missed) readings were missed: this output is too slow") }
        // The line contains a name, perhaps from another host, so filter it.
        for text in try lines(for: line) {
            if case .people = form { Terminal.line(text) } else { Terminal.exact(text) }
        }
    }

    /// Returns the lines to print for a measurement. In CSV, the header precedes the first line.
    mutating func lines(for line: ReadingLine) throws -> [String] {
        switch form {
        case .json: [try JSONOutput.line(line)]
        case .csv: csvLines(line)
        case .people(let times): [lineForPeople(line, times)]
        }
    }

    /// Returns CSV lines, all with the columns of the first measurement.
    private mutating func csvLines(_ line: ReadingLine) -> [String] {
        let reading = line.values.reading
        var lines: [String] = []
        let columns = self.columns ?? Quantity.allCases.filter { reading.supported.contains($0) }
        if self.columns == nil {
            hasMarks = line.marks != nil
            lines.append((["time"] + columns.map(\.key) + (hasMarks ? ["mark"] : [])).joined(separator: ","))
        }
        self.columns = columns
        var values = columns.map { quantity in reading[quantity].map { "\($0)" } ?? "" }
        if hasMarks { values.append((line.marks ?? []).joined(separator: "; ").csvField) }
        lines.append(([line.time] + values).joined(separator: ","))
        return lines
    }

    private func lineForPeople(_ line: ReadingLine, _ times: TimeText) -> String {
        var parts = [times.timeOfDay(line.time)]
        line.values.reading.forEach { quantity, value in
            switch quantity {
            case .voltage, .current, .power, .energy, .charge, .temperature:
                parts.append(Formatting.quantity(quantity, value))
            case .countedEnergy: parts.append("counted here: " + Formatting.quantity(quantity, value))
            case .countedCharge: parts.append(Formatting.quantity(quantity, value))
            case .ratio: parts.append("ratio " + Formatting.quantity(quantity, value))
            default:
                break
            }
        }
        if let count = line.count { parts.append("mean of \(count)") }
        if let host = line.measured_by { parts.append("at \(host)") }
        return parts.joined(separator: "  ")
    }
}

/// Runs `body` until it ends or the limit has passed; neither is an error. Nil means no limit.
func withTimeLimit(_ limit: Duration?, _ body: @escaping @Sendable () async throws -> Void) async throws {
    guard let limit else { return try await body() }
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await Task.sleep(for: limit) }
        group.addTask { try await body() }
        try await group.next()
        group.cancelAll()
    }
}

import ArgumentParser
import Domain
import FoundationEssentials
import GatewayAPI
import ProgramKit
import Synchronization

struct Capture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record the raw traffic of a meter, for support and tests.",
        discussion: "Writes one JSON object per line: a header, then each message with its time and direction.")

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Option(name: .customLong("for"), help: "Duration of the capture.")
    var duration = TimeArgument(.seconds(10))
    @Option(name: .shortAndLong, help: "The file to write, or - for standard output.", completion: .file())
    var output: String

    func run() async throws {
        let client = daemon.client
        let status: MeterStatus = try await client.call(.get, meterPath(meter))
        let header = CaptureHeader(meter: status.id, model: status.model?.lowercased(), started: wallNow())
        let file = try OutputFile(path: output)
        try file.write(try JSONOutput.line(header))
        let tally = Mutex(CaptureTally())
        do {
            try await withTimeLimit(duration.duration) {
                try await client.lines(meterPath(meter, "/traffic"), as: TrafficLine.self) { line in
                    try file.write(try JSONOutput.line(line))
                    tally.withLock { $0.add(line) }
                }
            }
        } catch {
            Terminal.talk("\(tally.withLock { $0.words }) in \(output), which is incomplete")
            throw error
        }
        let total = tally.withLock { $0 }
        Terminal.talk("\(total.words) in \(output)")
        if total.messages == 0 {
            let reason = Formatting.noData(status, called: meter)
            Terminal.talk("no traffic\(reason.map { ": \($0)" } ?? ", although \(meter) has data")")
        }
    }

    private func wallNow() -> String {
        WallTime(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000)).description
    }
}

struct CaptureTally {
    private(set) var messages = 0
    private(set) var missed = 0

    mutating func add(_ line: TrafficLine) {
        messages += 1
        guard let lost = line.missed else { return }
        missed += lost
        Terminal.talk("\(lost) messages were missed: this output is too slow")
    }

    var words: String { "\(messages) messages\(missed > 0 ? " without the \(missed) that were missed" : "")" }
}

import ArgumentParser
import Domain
import FoundationEssentials
import GatewayAPI
import MeterCodec
import MeterSimulator
import ProgramKit

struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replay a capture on a pseudo-terminal, as the meter would send it.",
        discussion: "Each request gets its recorded answer. Data that the meter sent without a request keeps its "
            + "recorded timing. The file may instead contain the bytes of one answer as hex digits, such as 0A 1B: "
            + "every request then gets this answer, and --model is required. The bytes sent are the recorded bytes, "
            + "except for the request numbers in a KM003C's answers."
    )

    @Argument(help: "File from meterctl capture, or a text file with the bytes of one answer as hex, such as 0A 1B.")
    var file: String
    @Option(help: "Model of the meter, if the file does not name it.")
    var model: String?
    @Option(help: "Path at which to create a symbolic link to the pseudo-terminal.")
    var link: String?

    func run() async throws {
        let capture = try CaptureText(path: file)
        guard !capture.messages.isEmpty else {
            throw CommandFailure(
                .error, "\(file) holds no message", next: "record while the meter has data: meterctl status")
        }
        guard let name = (model ?? capture.model).flatMap({ MeterCatalogue.standard.model(named: $0) }) else {
            throw CommandFailure(.usage, "\(file) does not say which model it is of", next: "name it with --model")
        }
        Terminal.talk("\(capture.messages.count) messages of a \(name.displayName)")
        try await runPort(TrafficReplay(model: name, messages: capture.messages), link: link)
    }
}

private struct CaptureText {
    private(set) var model: String?
    private(set) var messages: [TrafficReplay.Message] = []

    init(path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure(.error, "\(path) cannot be read", next: "check the path and its mode")
        }
        if let bytes = Hex.decode(text), !bytes.isEmpty {
            messages = [.init(time: .zero, direction: .fromMeter, bytes: bytes)]
            return
        }
        for (index, line) in text.split(separator: "\n").enumerated() {
            let data = Data(line.utf8)
            if index == 0, let header = try? JSONDecoder().decode(CaptureHeader.self, from: data) {
                // A file may lack the header. Its first line is then a message, like the others.
                model = header.model
                continue
            }
            messages.append(try Self.message(data, path: path, line: index + 1))
        }
        messages.removeAll { $0.bytes.isEmpty }
    }

    private static func message(_ data: Data, path: String, line: Int) throws -> TrafficReplay.Message {
        guard let entry = try? JSONDecoder().decode(TrafficLine.self, from: data), let bytes = Hex.decode(entry.hex)
        else {
            throw CommandFailure(
                .error, "\(path), line \(line), is not a message",
                next: "give a file that meterctl capture wrote, or hex")
        }
        let time = Duration.microseconds(Int64(min(max(entry.t, 0), 1e9) * 1e6))
        return .init(time: time, direction: entry.dir == "in" ? .fromMeter : .toMeter, bytes: bytes)
    }
}

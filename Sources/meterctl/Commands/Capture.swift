import ArgumentParser
import FoundationEssentials
import GatewayAPI
import Glibc
import MeterModel
import MeterSimulator
import Synchronization

struct Capture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record the raw traffic of a meter, for support and tests.",
        discussion: "Writes one JSON object a line: a header, then each message with its time and direction.")

    @OptionGroup var daemon: DaemonOptions
    @Argument var meter: String
    @Option(name: .customLong("for"), help: "How long.")
    var duration = TimeArgument(.seconds(10))
    @Option(name: .shortAndLong, help: "The file to write, or - for standard output.")
    var output: String

    func run() async throws {
        let client = daemon.client
        let status: MeterStatus = try await client.call(.get, meterPath(meter))
        let header = CaptureHeader(meter: status.id, model: status.model?.lowercased(), started: wallNow())
        let file = try CaptureFile(path: output)
        try file.write(try JSONOutput.line(header))
        let messages = Mutex(0)
        try await withTimeLimit(duration.duration) {
            try await client.lines(meterPath(meter, "/traffic"), as: TrafficLine.self) { line in
                try file.write(try JSONOutput.line(line))
                messages.withLock { $0 += 1 }
                return true
            }
        }
        let count = messages.withLock { $0 }
        Terminal.talk("\(count) messages in \(output)")
        if count == 0 {
            Terminal.talk("nothing was said: the meter is \(status.state); meterctl connect \(meter) first")
        }
    }

    private func wallNow() -> String {
        WallTime(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000)).description
    }
}

/// A file that lines are appended to. A full disk is an error, not a short file that looks whole.
private struct CaptureFile: Sendable {
    private let descriptor: Int32
    private let path: String

    init(path: String) throws {
        self.path = path
        descriptor = path == "-" ? 1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure }
    }

    func write(_ line: String) throws {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 { bytes = bytes.dropFirst(written) } else if errno != EINTR { throw failure }
        }
    }

    private var failure: CommandFailure {
        CommandFailure(
            .error, "\(path) cannot be written: \(String(cString: strerror(errno)))",
            next: "choose another file with -o")
    }
}

struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a capture on a pseudo-terminal, as if the meter were there.",
        discussion: "A request gets the answer that it got then; a meter that pushes is played in its own time. "
            + "Instead of a capture, the file may be hex, which answers every request; then --model is needed."
    )

    @Argument(help: "A file that meterctl capture wrote, or hex.")
    var file: String
    @Option(help: "The model, where the file does not say.")
    var model: String?
    @Option(help: "A symbolic link to the port.")
    var link: String?

    func run() async throws {
        let capture = try CaptureText(path: file)
        guard let name = (model ?? capture.model).flatMap({ ModelName($0) }) else {
            throw CommandFailure(.usage, "\(file) does not say which model it is of", next: "name it with --model")
        }
        Terminal.talk("\(capture.messages.count) messages of a \(name.displayName)")
        try await runPort(TrafficReplay(model: name, messages: capture.messages), link: link)
    }
}

/// A capture read back.
private struct CaptureText {
    private(set) var model: String?
    private(set) var messages: [TrafficReplay.Message] = []

    init(path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            // The error thrown says no more than that.
            throw CommandFailure(.error, "\(path) cannot be read", next: "check the path and its mode")
        }
        if let bytes = Hex.decode(text), !bytes.isEmpty {
            messages = [.init(time: .zero, direction: .fromMeter, bytes: bytes)]
            return
        }
        for (index, line) in text.split(separator: "\n").enumerated() {
            let data = Data(line.utf8)
            if index == 0, let header = try? JSONDecoder().decode(CaptureHeader.self, from: data) {
                // A first line that is no header may be a message; the next lines decide.
                model = header.model
                continue
            }
            messages.append(try Self.message(data, path: path, line: index + 1))
        }
    }

    private static func message(_ data: Data, path: String, line: Int) throws -> TrafficReplay.Message {
        guard let entry = try? JSONDecoder().decode(TrafficLine.self, from: data), let bytes = Hex.decode(entry.hex)
        else {
            // Which part is wrong, a person sees in the line itself.
            throw CommandFailure(
                .error, "\(path), line \(line), is no message", next: "give a file that meterctl capture wrote, or hex")
        }
        let time = Duration.microseconds(Int64(min(max(entry.t, 0), 1e9) * 1e6))
        return .init(time: time, direction: entry.dir == "in" ? .fromMeter : .toMeter, bytes: bytes)
    }
}

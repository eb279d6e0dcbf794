import MeterModel
import MeterSimulator
import SimulatedPort

/// What a person can type to a running simulator.
struct PortConsole {
    let port: SimulatedPort

    /// Reads lines until the input ends. With no input, as in a script, there is nothing to do.
    func run() async {
        let lines = AsyncStream<String> { continuation in
            Task.detached {
                // Blocks a thread of its own until the input ends or the program does.
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
        for await line in lines {
            do {
                try await obey(line.split(separator: " ").map(String.init))
            } catch let failure as CommandFailure {
                failure.print()
            } catch {
                Terminal.talk("\(error)")
            }
        }
    }

    private func obey(_ words: [String]) async throws {
        switch words.first {
        case "fault":
            let every = words.count > 2 ? Int(words[2]) ?? 1 : 1
            await port.setFaults(try Self.faults(words.count > 1 ? words[1] : "", every: every))
        case "power-cycle": await port.powerCycle()
        case "unplug": await port.unplug()
        case "plug":
            try await port.plug()
            if let path = await port.path { Terminal.talk("plugged in at \(path)") }
        case nil: break
        default:
            throw CommandFailure(
                .usage, "\"\(words[0])\" is nothing to type here", next: "see meterctl simulate --help")
        }
    }

    static func faults(_ name: String, every period: Int) throws -> SimulatorFaults {
        if name == "none" { return .none }
        guard let kind = SimulatorFaults.Kind(rawValue: name) else {
            throw CommandFailure(
                .usage, "\"\(name)\" is no fault",
                next: "the faults are \(SimulatorFaults.Kind.allCases.map(\.rawValue).joined(separator: ", ")), none")
        }
        return SimulatorFaults(kind, every: period)
    }
}

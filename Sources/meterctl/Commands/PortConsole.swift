import Domain
import MeterSimulator
import ProgramKit
import SimulatedPort
import UnixSignals

/// Passes typed lines to a simulator until SIGINT or SIGTERM.
func untilStopped(_ obey: @escaping @Sendable (_ line: String) async throws -> Void) async {
    let console = Task {
        for await line in StandardInput.lines() {
            do {
                try await obey(line)
            } catch let failure as CommandFailure {
                failure.tell()
            } catch {
                Terminal.talk("\(error)")
            }
        }
    }
    for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { break }
    console.cancel()
}

struct PortConsole {
    let port: SimulatedPort

    func obey(_ line: String) async throws {
        switch try PortOrder(line) {
        case nil: break
        case .faults(let faults): await port.setFaults(faults)
        case .powerCycle: await port.powerCycle()
        case .unplug: await port.unplug()
        case .plug:
            try await port.plug()
            if let path = await port.path { Terminal.talk("plugged in at \(path)") }
        }
    }

    static func faults(_ name: String, every period: Int) throws -> SimulatorFaults {
        if name == "none" { return .none }
        guard let kind = SimulatorFaults.Kind(rawValue: name) else {
            throw CommandFailure(
                .usage, "\"\(name)\" is not a fault",
                next: "the faults are \(SimulatorFaults.Kind.allCases.map(\.rawValue).joined(separator: ", ")), none")
        }
        return SimulatorFaults(kind, every: period)
    }
}

enum PortOrder: Hashable {
    case faults(SimulatorFaults)
    case powerCycle
    case unplug
    case plug

    /// - Returns: nil for an empty line.
    init?(_ line: String) throws {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        switch (words.first, words.count) {
        case (nil, _): return nil
        case ("fault", 2): self = .faults(try PortConsole.faults(words[1], every: 1))
        case ("fault", 3):
            guard let period = Int(words[2]), period > 0 else {
                throw CommandFailure(
                    .usage, "\"\(words[2])\" is not a number of answers", next: "for example: fault garbage 3")
            }
            self = .faults(try PortConsole.faults(words[1], every: period))
        case ("power-cycle", 1): self = .powerCycle
        case ("unplug", 1): self = .unplug
        case ("plug", 1): self = .plug
        default:
            throw CommandFailure(.usage, "\"\(line)\" is not a command here", next: "see meterctl simulate --help")
        }
    }
}

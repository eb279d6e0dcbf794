import Domain
import MeterSimulator
import ProgramKit
import SimulatedPort

/// Commands that a person can type to a running simulator.
struct PortConsole {
    let port: SimulatedPort

    /// Carries out lines until the input ends. Without input, as in a script, there is nothing to do.
    func run() async {
        for await line in StandardInput.lines() {
            do {
                guard let order = try PortOrder(line) else { continue }
                try await obey(order)
            } catch let failure as CommandFailure {
                failure.tell()
            } catch {
                Terminal.talk("\(error)")
            }
        }
    }

    private func obey(_ order: PortOrder) async throws {
        switch order {
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

/// One line typed to a simulator.
enum PortOrder: Hashable {
    case faults(SimulatorFaults)
    case powerCycle
    case unplug
    case plug

    /// Nil for an empty line.
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
            throw CommandFailure(.usage, "\"\(line)\" is nothing to type here", next: "see meterctl simulate --help")
        }
    }
}

import Domain
import GatewayAPI
import MeterCodec

/// Commands waiting to be sent over the present link, and what the meter has been set to over it.
struct CommandQueue {
    struct Entry {
        var command: MeterCommand
        var bytes: [UInt8]
        /// When it is too late for it; nil for never.
        var deadline: MonotonicTime?
        /// The caller waiting for the command to go out. Nobody waits for a setting.
        var sent: CheckedContinuation<Bool, Never>?
    }

    /// Most commands that may wait at once; more are refused. A meter takes two a second at best.
    static let countMax = 32

    private var waiting: [Entry] = []
    /// Settings sent or queued over this link: the latest number, by kind of command.
    private var told: [MeterCommand.Kind: Int] = [:]

    var count: Int { waiting.count }
    var isFull: Bool { waiting.count >= Self.countMax }

    mutating func append(_ entry: Entry) { waiting.append(entry) }

    /// Queues a setting, for which the caller has found `wasTold` false.
    mutating func append(setting command: MeterCommand, _ bytes: [UInt8]) {
        waiting.append(Entry(command: command, bytes: bytes, sent: nil))
        told[command.kind] = command.number
    }

    func wasTold(_ command: MeterCommand) -> Bool { told[command.kind] == command.number }

    mutating func next() -> Entry? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// The command went out, whoever asked for it.
    mutating func sent(_ entry: Entry) {
        if MeterSettings.Key.allCases.contains(where: { $0.command == entry.command.kind }) {
            told[entry.command.kind] = entry.command.number
        }
        entry.sent?.resume(returning: true)
    }

    /// Removes the commands for which it is too late.
    mutating func dropOverdue(at now: MonotonicTime) {
        let overdue = waiting.filter { $0.deadline.map { $0 <= now } ?? false }
        guard !overdue.isEmpty else { return }
        waiting.removeAll { $0.deadline.map { $0 <= now } ?? false }
        for entry in overdue { drop(entry) }
    }

    /// Removes a command that will not be sent after all.
    mutating func drop(_ entry: Entry) {
        told[entry.command.kind] = nil
        entry.sent?.resume(returning: false)
    }

    /// The link is gone: nothing queued will be sent, and what the meter is set to is unknown.
    mutating func dropAll() {
        for entry in waiting { entry.sent?.resume(returning: false) }
        self = CommandQueue()
    }
}

extension MeterProfile {
    /// Says which commands the model does take, for an error about another one.
    var commandHelp: String {
        "it knows "
            + commands.map { rule in
                rule.kind.rawValue + (rule.numbers.map { " \($0.lowerBound)-\($0.upperBound)" } ?? "")
            }.joined(separator: ", ")
    }
}

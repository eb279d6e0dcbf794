import Domain
import GatewayAPI
import MeterCodec

struct CommandQueue {
    struct Entry {
        var command: MeterCommand
        var bytes: [UInt8]
        /// Nil if the command does not expire.
        var deadline: MonotonicTime?
        /// Caller that waits until the command is sent; nil for a setting.
        var sent: CheckedContinuation<Bool, Never>?
    }

    /// Maximum number of queued commands. A meter executes at most two commands a second.
    static let countMax = 32

    private var waiting: [Entry] = []
    /// Last setting sent or queued over this link, by kind of command.
    private var told: [MeterCommand.Kind: Int] = [:]

    var count: Int { waiting.count }
    var isFull: Bool { waiting.count >= Self.countMax }

    mutating func append(_ entry: Entry) { waiting.append(entry) }

    /// Queues a setting. The caller has checked that `wasTold` is false.
    mutating func append(setting command: MeterCommand, _ bytes: [UInt8]) {
        waiting.append(Entry(command: command, bytes: bytes, sent: nil))
        told[command.kind] = command.number
    }

    func wasTold(_ command: MeterCommand) -> Bool { told[command.kind] == command.number }

    mutating func next() -> Entry? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// Ends the caller's wait. Also records a setting that a user sent as a command.
    mutating func sent(_ entry: Entry) {
        if MeterSettings.Key.allCases.contains(where: { $0.command == entry.command.kind }) {
            told[entry.command.kind] = entry.command.number
        }
        entry.sent?.resume(returning: true)
    }

    mutating func dropOverdue(at now: MonotonicTime) {
        let overdue = waiting.filter { $0.deadline.map { $0 <= now } ?? false }
        guard !overdue.isEmpty else { return }
        waiting.removeAll { $0.deadline.map { $0 <= now } ?? false }
        for entry in overdue { drop(entry) }
    }

    mutating func drop(_ entry: Entry) {
        told[entry.command.kind] = nil
        entry.sent?.resume(returning: false)
    }

    /// Drops all commands and forgets which settings were sent: after the link ended, the meter's settings are unknown.
    mutating func dropAll() {
        for entry in waiting { entry.sent?.resume(returning: false) }
        self = CommandQueue()
    }
}

extension MeterProfile {
    var commandHelp: String {
        "the model takes "
            + commands.map { rule in
                rule.kind.rawValue + (rule.numbers.map { " \($0.lowerBound)-\($0.upperBound)" } ?? "")
            }.joined(separator: ", ")
    }
}

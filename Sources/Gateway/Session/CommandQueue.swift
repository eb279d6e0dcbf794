import GatewayAPI
import MeterCodec
import MeterModel

/// Commands on their way to a meter over the present link, and what they set the meter to.
struct CommandQueue {
    struct Entry {
        var command: MeterCommand
        var bytes: [UInt8]
        /// Who waits until it is sent. Nobody waits for a setting.
        var sent: CheckedContinuation<Bool, Never>?
    }

    /// A meter takes two a second at best: whoever comes after so many is refused.
    static let countMax = 32

    private var waiting: [Entry] = []
    /// What the meter was told over this link: numbers that a setting stands for.
    private var told: [MeterCommand.Kind: Int] = [:]

    var count: Int { waiting.count }
    var isFull: Bool { waiting.count >= Self.countMax }

    mutating func append(_ entry: Entry) { waiting.append(entry) }

    /// A setting that the meter was not told over this link.
    mutating func append(setting command: MeterCommand, _ bytes: [UInt8]) {
        waiting.append(Entry(command: command, bytes: bytes, sent: nil))
        told[command.kind] = command.number
    }

    func wasTold(_ command: MeterCommand) -> Bool { told[command.kind] == command.number }

    mutating func next() -> Entry? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// It went out, whoever asked for it.
    mutating func sent(_ entry: Entry) {
        if MeterSettings.Key.allCases.contains(where: { $0.command == entry.command.kind }) {
            told[entry.command.kind] = entry.command.number
        }
        entry.sent?.resume(returning: true)
    }

    /// It is not sent after all.
    mutating func drop(_ entry: Entry) {
        told[entry.command.kind] = nil
        entry.sent?.resume(returning: false)
    }

    /// The link is gone: none of them is sent, and nobody knows what the meter is set to.
    mutating func dropAll() {
        for entry in waiting { entry.sent?.resume(returning: false) }
        self = CommandQueue()
    }
}

extension MeterProfile {
    /// For whoever asked for something else.
    var commandHelp: String {
        guard !commands.isEmpty else { return "this model takes no commands over this link" }
        return "it knows "
            + commands.map { rule in
                rule.kind.rawValue + (rule.numbers.map { " \($0.lowerBound)-\($0.upperBound)" } ?? "")
            }.joined(separator: ", ")
    }
}

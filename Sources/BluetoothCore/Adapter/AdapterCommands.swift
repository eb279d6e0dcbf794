import Domain

struct AdapterCommands: Sendable {
    private var outstanding: Outstanding?
    private var holdUntil: MonotonicTime?
    private var failures = 0

    private struct Outstanding: Sendable {
        var command: ManagementCommand
        var since: MonotonicTime
    }

    private static let failuresMax = 4

    var isWaiting: Bool { outstanding != nil }

    var isStartingDiscovery: Bool {
        if case .startDiscovery? = outstanding?.command { true } else { false }
    }

    var isStoppingDiscovery: Bool {
        if case .stopDiscovery? = outstanding?.command { true } else { false }
    }

    /// Whether so many commands failed in a row that the adapter needs a remedy.
    var alwaysFail: Bool { failures > 0 && failures.isMultiple(of: Self.failuresMax) }

    mutating func mayContinue(at now: MonotonicTime) -> Bool {
        guard outstanding == nil else { return false }
        if let holdUntil, now < holdUntil { return false }
        holdUntil = nil
        return true
    }

    mutating func send(_ command: ManagementCommand, at now: MonotonicTime) -> [AdapterAction] {
        outstanding = Outstanding(command: command, since: now)
        return [.send(command)]
    }

    mutating func answered(opcode: UInt16) -> ManagementCommand? {
        guard let command = outstanding?.command, command.opcode == opcode else { return nil }
        outstanding = nil
        return command
    }

    mutating func expire(at now: MonotonicTime, _ timing: AdapterTiming) -> ManagementCommand? {
        guard let outstanding, now >= outstanding.since + timing.limit(of: outstanding.command) else { return nil }
        self.outstanding = nil
        fail(at: now, timing)
        return outstanding.command
    }

    mutating func abandon() { outstanding = nil }

    mutating func succeed() { failures = 0 }

    mutating func fail(at now: MonotonicTime, _ timing: AdapterTiming) {
        failures += 1
        holdUntil = now + min(timing.retryMax, timing.retryBase * (1 << min(failures - 1, 10)))
    }

    mutating func hold(until time: MonotonicTime) { holdUntil = time }

    func wakeTime(_ timing: AdapterTiming) -> MonotonicTime? {
        outstanding.map { $0.since + timing.limit(of: $0.command) } ?? holdUntil
    }
}

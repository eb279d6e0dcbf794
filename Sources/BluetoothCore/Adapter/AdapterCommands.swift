import Domain

/// Sends commands to the kernel, one at a time, with a pause after one that failed.
struct AdapterCommands: Sendable {
    private var outstanding: Outstanding?
    /// The earliest time of the next command.
    private var holdUntil: MonotonicTime?
    /// Consecutive failed commands.
    private var failures = 0

    private struct Outstanding: Sendable {
        var command: ManagementCommand
        var since: MonotonicTime
    }

    private static let failuresMax = 4

    /// Whether the kernel has yet to answer.
    var isWaiting: Bool { outstanding != nil }

    var isStartingDiscovery: Bool {
        if case .startDiscovery? = outstanding?.command { true } else { false }
    }

    var isStoppingDiscovery: Bool {
        if case .stopDiscovery? = outstanding?.command { true } else { false }
    }

    /// A command may fail now and then. One that always fails needs a remedy.
    var alwaysFail: Bool { failures > 0 && failures.isMultiple(of: Self.failuresMax) }

    /// Whether the next command may be sent. Ends a pause that is over.
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

    /// The command that an answer belongs to. Nil if nothing waits for that answer any more.
    mutating func answered(opcode: UInt16) -> ManagementCommand? {
        guard let command = outstanding?.command, command.opcode == opcode else { return nil }
        outstanding = nil
        return command
    }

    /// The command that was not answered in time, if so. It counts as failed.
    mutating func expire(at now: MonotonicTime, _ timing: AdapterTiming) -> ManagementCommand? {
        guard let outstanding, now >= outstanding.since + timing.limit(of: outstanding.command) else { return nil }
        self.outstanding = nil
        fail(at: now, timing)
        return outstanding.command
    }

    /// Waits for no answer any more: the outstanding command may be what hangs.
    mutating func abandon() { outstanding = nil }

    mutating func succeed() { failures = 0 }

    /// Something failed: pauses, longer each time.
    mutating func fail(at now: MonotonicTime, _ timing: AdapterTiming) {
        failures += 1
        holdUntil = now + min(timing.retryMax, timing.retryBase * (1 << min(failures - 1, 10)))
    }

    /// Pauses although nothing failed.
    mutating func hold(until time: MonotonicTime) { holdUntil = time }

    /// When a command is given up, or else when a pause ends.
    func wakeTime(_ timing: AdapterTiming) -> MonotonicTime? {
        outstanding.map { $0.since + timing.limit(of: $0.command) } ?? holdUntil
    }
}

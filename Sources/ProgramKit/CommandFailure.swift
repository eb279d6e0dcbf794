/// The exit codes (Docs/CommandLine.md#errors).
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case ok = 0
    case error = 1
    case usage = 2
    case noSuchMeter = 3
    case heldElsewhere = 4
    case timedOut = 5
    case noPermission = 6
    case daemonNotRunning = 7
    /// The meter's measurements violate a limit.
    case limitBroken = 8
    /// The meter's measurement cannot show whether the limit was kept.
    case undecided = 9
    /// The program whose consumption was measured failed.
    case programFailed = 10
}

/// An error message (Docs/CommandLine.md#errors): the failure with its value, and the remedy.
package struct CommandFailure: Error, Hashable, Sendable {
    package var status: ExitStatus
    package var message: String
    package var next: String

    package init(_ status: ExitStatus = .error, _ message: String, next: String) {
        self.status = status
        self.message = message
        self.next = next
    }

    package func tell() {
        Terminal.talk("\(Terminal.programName): error: \(message)")
        Terminal.talk(next)
    }

    package func end() -> Never {
        tell()
        Terminal.exit(status)
    }
}

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
    /// What was measured breaks a limit.
    case limitBroken = 8
    /// What was measured does not tell whether it does.
    case undecided = 9
    /// The program that was measured failed.
    case programFailed = 10
}

/// An error (Docs/CommandLine.md#errors): what failed with which value, and what to do next.
package struct CommandFailure: Error, Hashable, Sendable {
    package var status: ExitStatus
    package var message: String
    package var next: String

    package init(_ status: ExitStatus = .error, _ message: String, next: String) {
        self.status = status
        self.message = message
        self.next = next
    }

    /// Prints it under the program's name.
    package func tell() {
        Terminal.talk("\(Terminal.programName): error: \(message)")
        Terminal.talk(next)
    }

    /// Prints it and ends the program.
    package func end() -> Never {
        tell()
        Terminal.exit(status)
    }
}

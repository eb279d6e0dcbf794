import ArgumentParser
import LinuxIO
import ProgramKit
import UnixSignals

struct ProgramOption: ParsableArguments {
    @Option(
        parsing: .remaining,
        help: ArgumentHelp(
            "Program to run, with its arguments. Must be the last option; -- is a short form of --program.",
            valueName: "command"))
    var program: [String] = []

    /// Replaces the first `--` by `--program`. Otherwise the library would parse the words after it as arguments.
    static func spelledOut(_ arguments: [String]) -> [String] {
        guard ["assert", "mark"].contains(arguments.first), let end = arguments.firstIndex(of: "--"),
            !arguments[..<end].contains("--program")
        else { return arguments }
        var arguments = arguments
        arguments[end] = "--program"
        return arguments
    }
}

extension ForegroundProgram {
    /// Runs the program and returns how it ended. Forwards to it the signals that would end meterctl.
    static func run(_ command: [String], toErrors: Bool) async throws -> End {
        do throws(Errno) {
            let program = try ForegroundProgram(command, toErrors: toErrors)
            let passing = Task {
                for await signal in await UnixSignalsSequence(trapping: .sigterm, .sighup) {
                    program.send(signal.rawValue)
                }
            }
            defer { passing.cancel() }
            return try await program.end()
        } catch {
            throw CommandFailure(
                .error, "\(command[0]) cannot be started: \(error)",
                next: "check that it exists, and its first line")
        }
    }
}

package import ArgumentParser
import Domain
import Glibc

extension AsyncParsableCommand {
    /// Runs a program like the library's `main`, but with this project's exit code for wrong usage and its error
    /// format.
    ///
    /// - Parameter next: remedy for errors that contain none.
    package static func runProgram(
        next: String, parse: @Sendable () async throws -> any ParsableCommand = { try await asyncParseAsRoot() }
    ) async {
        // If the reader closes the pipe, writing then returns EPIPE instead of ending this program (`Terminal.data`).
        _ = signal(SIGPIPE, SIG_IGN)
        do {
            var command = try await parse()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            failure.end()
        } catch {
            switch exitCode(for: error) {
            case .validationFailure:
                let words = fullMessage(for: error)
                let isPlain = words.hasPrefix("Error: ")
                Terminal.talk(
                    isPlain ? "\(Terminal.programName): error: \(words.dropFirst(7))" : words, linesKept: true)
                Terminal.exit(.usage)
            case .failure where !(error is ExitCode): CommandFailure(.error, words(for: error), next: next).end()
            default: exit(withError: error)
            }
        }
    }
}

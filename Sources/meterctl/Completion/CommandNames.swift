import ArgumentParser
import Domain
import ProgramKit

/// Detects wrong command names before the library reports an unexpected argument.
enum CommandNames {
    /// - Throws: `CommandFailure` with the name that was probably meant.
    static func check(_ arguments: [String], in program: any ParsableCommand.Type) throws {
        var command = program
        var path: [String] = []
        for word in arguments {
            let names = command.configuration.subcommands.map { $0._commandName }
            guard !names.isEmpty, !word.hasPrefix("-"), word != "help" else { return }
            guard let next = command.subcommand(named: word) else {
                if command.configuration.defaultSubcommand != nil { return }
                throw failure(path, word, names)
            }
            command = next
            path.append(word)
        }
    }

    private static func failure(_ path: [String], _ word: String, _ names: [String]) -> CommandFailure {
        func words(_ last: String) -> String { (path + [last]).joined(separator: " ") }
        return CommandFailure(
            .usage, "no command is called \"\(words(word))\"",
            next: names.nearest(to: word).map { "did you mean meterctl \(words($0))?" }
                ?? "the commands are \(names.joined(separator: ", "))")
    }
}

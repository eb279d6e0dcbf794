import ArgumentParser

/// A command line as far as it is typed, as the shell hands it to a completion.
struct TypedWords {
    /// The words that are no options and no names of commands: `bench` and `rotate` in `meterctl command bench rotate`.
    let positionals: [String]
    /// The value of `--socket`; nil without one.
    let socket: String?

    /// - Parameters:
    ///   - words: the program's name first. Quotes are as they were typed.
    ///   - index: of the word to be completed; what follows it does not count, nor does that word.
    init(_ words: [String], before index: Int) {
        var positionals: [String] = []
        var socket: String?
        var command: any ParsableCommand.Type = Meterctl.self
        var rest = words.prefix(max(0, index)).dropFirst().map(\.unquoted)[...]
        while let word = rest.popFirst() {
            if word.hasPrefix("--socket=") {
                socket = String(word.dropFirst(9))
            } else if word == "--socket" {
                socket = rest.popFirst()
            } else if Self.optionsWithValue.contains(word) {
                rest = rest.dropFirst()
            } else if word.hasPrefix("-") {
                continue
            } else if positionals.isEmpty, let next = command.subcommand(named: word) {
                command = next
            } else {
                positionals.append(word)
            }
        }
        (self.positionals, self.socket) = (positionals, socket)
    }

    /// Options of any command whose value is a word of its own. `--queue` may come without one, which costs nothing but a
    /// completion.
    private static let optionsWithValue: Swift.Set<String> = [
        "--timeout", "--model", "--id", "--over", "--for", "--limit", "--since", "-o", "--output", "--name", "--queue",
        "--token-file", "--pin", "--listen", "--from", "--to", "--every", "--format",
        "--meter", "--as", "--time-zone", "--zone", "--column", "--start", "--of",
    ]
}

extension ParsableCommand {
    static func subcommand(named name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0._commandName == name }
    }
}

extension String {
    /// Without the quotes and backslashes of a shell.
    var unquoted: String {
        var text = ""
        var isEscaped = false
        for letter in self {
            if !isEscaped, letter == "\\" {
                isEscaped = true
            } else if isEscaped || (letter != "\"" && letter != "'") {
                text.append(letter)
                isEscaped = false
            }
        }
        return text
    }
}

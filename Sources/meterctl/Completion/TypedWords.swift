import ArgumentParser

/// The command line as the shell passes it to a completion.
struct TypedWords {
    /// Words other than options and command names: `bench` and `rotate` in `meterctl command bench rotate`.
    let positionals: [String]
    let socket: String?

    /// - Parameters:
    ///   - words: words as typed, with quotes, from the program's name on.
    ///   - index: position of the word to complete. This word and the following ones are ignored.
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

    /// Options whose value is the next word. `--queue` may lack its value; then only the completion is wrong.
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

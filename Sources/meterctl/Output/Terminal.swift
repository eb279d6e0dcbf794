import Glibc

/// stdout is data, stderr is talk.
enum Terminal {
    /// One line of talk.
    static func talk(_ line: String) { write(line + "\n", to: 2) }

    /// Data as it is. A reader that went away, as `head` does, ends the program quietly.
    static func data(_ text: String) { write(text, to: 1) }

    /// One line of data.
    static func line(_ text: String) { data(text + "\n") }

    static var isOutputATerminal: Bool { isatty(1) == 1 }

    /// Colours only on a terminal, and not for somebody who set NO_COLOR.
    static var usesColour: Bool { isOutputATerminal && getenv("NO_COLOR") == nil }

    static func coloured(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
        case dim = 2
    }

    /// Clears the screen for the next picture.
    static func clear() {
        if isOutputATerminal { data("\u{1B}[H\u{1B}[2J") }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                bytes = bytes.dropFirst(written)
            } else if errno != EINTR {
                if descriptor == 1 { Glibc.exit(ExitStatus.ok.rawValue) }
                return
            }
        }
    }
}

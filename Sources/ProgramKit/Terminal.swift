import Domain
import Glibc
import LinuxIO

/// Output: data to stdout, messages to stderr. Text for people is filtered with `visible`; data for programs is not.
package enum Terminal {
    static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map { String($0) } ?? "meter"
    }

    package static func exit(_ status: ExitStatus) -> Never { Glibc.exit(status.rawValue) }

    /// Writes a message of one line to stderr.
    ///
    /// - Parameter linesKept: whether to keep line ends; only for this program's own text.
    package static func talk(_ line: String, linesKept: Bool = false) {
        try? DescriptorWriter.write(line.visible(linesKept: linesKept) + "\n", to: 2)
    }

    /// Replaces the last line of stderr with a message, without a line end.
    package static func rewrite(_ text: String) {
        try? DescriptorWriter.write("\r\(text.visible)", to: 2)
    }

    package static var isTalkATerminal: Bool { isatty(2) == 1 }

    /// Writes data unchanged to stdout. If the reader closed the pipe, as `head` does, the program exits without an
    /// error; after any other write error, with a message.
    package static func data(_ text: String) { data(bytes: text.utf8) }

    package static func data(bytes: some Sequence<UInt8>) {
        do throws(Errno) {
            try DescriptorWriter.write(bytes: bytes, to: 1)
        } catch {
            if error.code == EPIPE { exit(.ok) }
            CommandFailure(
                .error, "standard output cannot be written: \(error)", next: "free the space, or send it elsewhere"
            ).end()
        }
    }

    /// Writes one line of data for people to stdout.
    ///
    /// - Parameter linesKept: whether to keep line ends; only if the lines cannot be confused with other output.
    package static func line(_ text: String, linesKept: Bool = false) {
        data(text.visible(linesKept: linesKept) + "\n")
    }

    /// Writes one line of data for programs, or of text that is already safe to show.
    package static func exact(_ text: String) { data(text + "\n") }

    package static var isOutputATerminal: Bool { isatty(1) == 1 }

    /// Width of the terminal in cells; nil if stdout is no terminal or the width is unknown.
    package static var columns: Int? { size?.columns }

    package static var size: (rows: Int, columns: Int)? {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// Whether to use colours: only on a terminal, and only without NO_COLOR in the environment.
    static var usesColour: Bool { isOutputATerminal && getenv("NO_COLOR") == nil }

    package static func coloured(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    package enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
        case dim = 2
    }
}

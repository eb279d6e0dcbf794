import Glibc
import LinuxIO
import MeterModel

/// stdout is data, stderr is talk. What is for people leaves the program through `visible`; what is for programs as it is.
package enum Terminal {
    /// What this program was called as.
    package static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map { String($0) } ?? "meter"
    }

    package static func exit(_ status: ExitStatus) -> Never { Glibc.exit(status.rawValue) }

    /// One line of talk.
    ///
    /// - Parameter linesKept: it is a text of several lines, which is all this program's own.
    package static func talk(_ line: String, linesKept: Bool = false) {
        // With stderr gone there is nobody left to tell.
        try? DescriptorWriter.write(line.visible(linesKept: linesKept) + "\n", to: 2)
    }

    /// Talk in the place of what was said last, without a line end.
    package static func rewrite(_ text: String) {
        // With stderr gone there is nobody left to tell.
        try? DescriptorWriter.write("\r\(text.visible)", to: 2)
    }

    package static var isTalkATerminal: Bool { isatty(2) == 1 }

    /// Data as it is. A reader that went away, as `head` does, ends the program quietly; data that is lost for any
    /// other reason ends it with an error.
    package static func data(_ text: String) {
        do throws(Errno) {
            try DescriptorWriter.write(text, to: 1)
        } catch {
            if error.code == EPIPE { exit(.ok) }
            CommandFailure(
                .error, "standard output cannot be written: \(error)", next: "free the space, or send it elsewhere"
            ).end()
        }
    }

    /// One line of data for people.
    ///
    /// - Parameter linesKept: it is a text of several lines, and nothing that comes before or after can be mistaken for it.
    package static func line(_ text: String, linesKept: Bool = false) {
        data(text.visible(linesKept: linesKept) + "\n")
    }

    /// One line of data for programs, or what is safe to show already.
    package static func exact(_ text: String) { data(text + "\n") }

    package static var isOutputATerminal: Bool { isatty(1) == 1 }

    /// Colours only on a terminal, and not for somebody who set NO_COLOR.
    package static var usesColour: Bool { isOutputATerminal && getenv("NO_COLOR") == nil }

    package static func coloured(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    package enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
        case dim = 2
    }

    /// Clears the screen for the next picture.
    package static func clear() {
        if isOutputATerminal { data("\u{1B}[H\u{1B}[2J") }
    }
}

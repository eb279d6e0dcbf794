import ProgramKit

/// How far a long work is: on a terminal one line that is written over, elsewhere nothing.
struct ProgressLine {
    private var width = 0

    mutating func show(_ text: String) {
        guard Terminal.isTalkATerminal else { return }
        let padding = String(repeating: " ", count: max(0, width - text.count))
        width = text.count
        Terminal.rewrite(text + padding)
    }

    /// Takes the line away, so that what comes next stands alone.
    mutating func end() {
        guard width > 0 else { return }
        Terminal.rewrite(String(repeating: " ", count: width))
        Terminal.rewrite("")
        width = 0
    }
}

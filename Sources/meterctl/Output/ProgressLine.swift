import Domain
import ProgramKit

/// Progress of a long task: a line that is overwritten on a terminal, otherwise nothing.
struct ProgressLine {
    private var width = 0

    mutating func show(_ text: String) {
        guard Terminal.isTalkATerminal else { return }
        let padding = String(repeating: " ", count: max(0, width - text.displayWidth))
        width = text.displayWidth
        Terminal.rewrite(text + padding)
    }

    mutating func end() {
        guard width > 0 else { return }
        Terminal.rewrite(String(repeating: " ", count: width))
        Terminal.rewrite("")
        width = 0
    }
}

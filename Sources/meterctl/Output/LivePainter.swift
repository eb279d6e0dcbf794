import Domain
import ProgramKit

/// Paints a picture on the terminal again and again.
final class LivePainter {
    private var picture = LivePicture(.atCursor)

    /// Nil where the output is not a terminal.
    init?() { guard Terminal.isOutputATerminal else { return nil } }

    /// Cells in a line. A terminal that does not tell is taken for an old one.
    var columns: Int { Terminal.columns ?? 80 }

    /// - Parameter lines: safe to show, none wider than `columns`.
    func paint(_ lines: [String]) {
        let size = Terminal.size ?? (24, 80)
        Terminal.data(
            picture.update(to: lines, size: size) { "… and \($0) more lines: meterctl top".fitting(size.columns) })
    }
}

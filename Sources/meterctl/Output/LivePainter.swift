import Domain
import ProgramKit

final class LivePainter {
    private var picture = LivePicture(.atCursor)

    /// Nil if the output is not a terminal.
    init?() { guard Terminal.isOutputATerminal else { return nil } }

    /// Cells in a line; 80 if the terminal does not report them.
    var columns: Int { Terminal.columns ?? 80 }

    /// - Parameter lines: safe to show, none wider than `columns`.
    func paint(_ lines: [String]) {
        let size = Terminal.size ?? (24, 80)
        Terminal.data(
            picture.update(to: lines, size: size) { "… and \($0) more lines: meterctl top".fitting(size.columns) })
    }
}

import Domain
import ProgramKit

final class LivePainter {
    private var picture = LivePicture(.atCursor)

    /// - Returns: nil if the output is not a terminal.
    init?() { guard Terminal.isOutputATerminal else { return nil } }

    /// Number of cells in a line; 80 if the terminal does not report it.
    var columns: Int { Terminal.columns ?? 80 }

    /// Draws the lines.
    ///
    /// - Parameter lines: lines that are safe to show and at most `columns` cells wide.
    func paint(_ lines: [String]) {
        let size = Terminal.size ?? (24, 80)
        Terminal.data(
            picture.update(to: lines, size: size) { "… and \($0) more lines: meterctl top".fitting(size.columns) })
    }
}

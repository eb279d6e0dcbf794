import Domain
import ProgramKit

final class LivePainter {
    private var picture = LivePicture(.atCursor)

    init?() { guard Terminal.isOutputATerminal else { return nil } }

    var columns: Int { Terminal.columns ?? 80 }

    /// - Parameter lines: safe to show and at most `columns` cells wide.
    func paint(_ lines: [String]) {
        let size = Terminal.size ?? (24, 80)
        Terminal.data(
            picture.update(to: lines, size: size) { "… and \($0) more lines: meterctl top".fitting(size.columns) })
    }
}

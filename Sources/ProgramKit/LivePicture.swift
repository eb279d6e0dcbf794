/// Lines on a terminal that change in place. Writes only differences, to avoid flicker.
///
/// Each line must fit the terminal's width. Lines beyond its height are left out.
package struct LivePicture {
    package enum Place: Sendable {
        /// The lines begin at the cursor. Each update leaves the cursor below them.
        case atCursor
        case wholeScreen
    }

    private let place: Place
    private var shown: [String] = []
    private var size: (rows: Int, columns: Int)?

    package init(_ place: Place) { self.place = place }

    /// Returns the text to write to the terminal, so that it shows these lines.
    ///
    /// - Parameters:
    ///   - size: size of the terminal. A change of size causes a complete redraw.
    ///   - rest: returns the last line if lines are left out; its argument is their number.
    package mutating func update(
        to lines: [String], size: (rows: Int, columns: Int), rest: (Int) -> String
    ) -> String {
        let isResized = self.size.map { $0 != size } ?? (place == .wholeScreen)
        self.size = size
        if isResized { shown = [] }
        let before = shown
        let room = max(1, place == .atCursor ? size.rows - 1 : size.rows)
        shown = lines.count > room ? lines.prefix(room - 1) + [rest(lines.count - room + 1)] : lines
        let start = isResized ? "\u{1B}[H\u{1B}[2J" : ""
        return start + (place == .atCursor ? updateAtCursor(before) : updateWholeScreen(before))
    }

    private func updateAtCursor(_ before: [String]) -> String {
        var text = before.isEmpty ? "" : "\r\u{1B}[\(before.count)A"
        for row in 0..<max(before.count, shown.count) { text += change(of: row, before) + "\n" }
        return before.count > shown.count ? text + "\u{1B}[\(before.count - shown.count)A" : text
    }

    private func updateWholeScreen(_ before: [String]) -> String {
        var text = ""
        for row in 0..<max(before.count, shown.count) {
            let change = change(of: row, before)
            if !change.isEmpty { text += "\u{1B}[\(row + 1);1H\(change)" }
        }
        return text
    }

    private func change(of row: Int, _ before: [String]) -> String {
        let line = row < shown.count ? shown[row] : ""
        // Clear the rest of the line only after writing the text, to avoid flicker.
        return row < before.count && before[row] == line ? "" : "\(line)\u{1B}[K"
    }
}

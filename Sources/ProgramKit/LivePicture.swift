/// Lines on a terminal that change in place: only what differs is written, so that nothing flickers.
///
/// The lines have to fit the terminal's width; those that do not fit its height are left out.
package struct LivePicture {
    package enum Place: Sendable {
        /// Where the cursor was at first. Afterwards it is below the picture, as after any other output.
        case atCursor
        /// From the first line of the terminal on.
        case wholeScreen
    }

    private let place: Place
    private var shown: [String] = []
    private var size: (rows: Int, columns: Int)?

    package init(_ place: Place) { self.place = place }

    /// What to write to the terminal for it to show these lines.
    ///
    /// - Parameters:
    ///   - size: of the terminal. One that changed may have broken the lines anywhere, so all of them are written again.
    ///   - rest: the last line where some are left out, from how many there are.
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

    /// Empty for a line that stays as it is.
    private func change(of row: Int, _ before: [String]) -> String {
        let line = row < shown.count ? shown[row] : ""
        // What is behind the line's end goes only now, so that no line is ever empty in between.
        return row < before.count && before[row] == line ? "" : "\(line)\u{1B}[K"
    }
}

import Domain

/// A text table that fits the terminal.
///
/// If there is not enough room, the widest columns are cut and marked with `…`. Columns of times or numbers stay whole,
/// and the first column is cut last. A last column with the main content is wrapped instead. Without a terminal, only
/// extremely long cells are cut.
package struct Table {
    private var rows: [[Cell]]
    private let wrapsLast: Bool

    package struct Cell {
        /// The text, with control characters made visible.
        package let text: String
        package var colour: Terminal.Colour?
        /// Whether the text is useless when cut, like a time or a number.
        package var isWhole: Bool

        /// Maximum width of one text, in terminal cells.
        static let cellsMax = 2000

        package init(_ text: String, _ colour: Terminal.Colour? = nil, isWhole: Bool = false) {
            self.text = text.visible.fitting(Self.cellsMax)
            self.colour = colour
            self.isWhole = isWhole
        }
    }

    /// - Parameter wrapsLast: whether to wrap a last column that is too wide; always true with two columns.
    package init(_ header: [String], wrapsLast: Bool = false) {
        rows = [header.map { Cell($0, .dim, isWhole: true) }]
        self.wrapsLast = wrapsLast || header.count == 2
    }

    package mutating func add(_ cells: [Cell]) { rows.append(cells) }

    package mutating func add(_ cells: [String]) { rows.append(cells.map { Cell($0) }) }

    package func print() {
        for line in lines(fitting: Terminal.columns) { Terminal.exact(line) }
    }

    package var lines: [String] { lines(fitting: nil) }

    /// Returns lines without trailing blanks.
    ///
    /// - Parameters:
    ///   - room: width in terminal cells; nil for no limit.
    ///   - isPlain: omits colours.
    package func lines(fitting room: Int?, isPlain: Bool = false) -> [String] {
        let widths = widths(fitting: room)
        return rows.flatMap { row in
            wrapped(row, widths).map { line(of: $0, widths, fitting: room, isPlain: isPlain) }
        }
    }

    private func line(of row: [Cell], _ widths: [Int], fitting room: Int?, isPlain: Bool) -> String {
        var line = ""
        var (gap, used) = (0, 0)
        for (column, cell) in row.enumerated() {
            let rest = room.map { max(0, $0 - used - gap) } ?? .max
            let text = cell.text.fitting(min(widths[column], rest))
            let width = text.displayWidth
            if !text.isEmpty {
                let shown = isPlain ? text : cell.colour.map { Terminal.coloured(text, $0) } ?? text
                line += String(repeating: " ", count: gap) + shown
                used += gap + width
                gap = 0
            }
            gap += widths[column] - width + 2
        }
        return line
    }

    /// Width of the uncut table in terminal cells.
    package var width: Int { lines(fitting: nil, isPlain: true).map(\.displayWidth).max() ?? 0 }

    // MARK: Widths

    private func widths(fitting room: Int?) -> [Int] {
        let columns = rows.map(\.count).max() ?? 0
        var widths = (0..<columns).map { column in
            min(width(of: column) { _ in true }, wrapsLast && column == columns - 1 ? .max : Self.mostWidth)
        }
        guard let room, !widths.isEmpty else { return widths }
        var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - room
        let least = widths.indices.map { column in
            column == 0 ? widths[0] : min(widths[column], max(Self.leastWidth, width(of: column) { $0.isWhole }))
        }
        // Wrap before cutting, because wrapping loses no text.
        let wrapping = wrapsLast ? widths.dropLast() + [min(widths[widths.count - 1], Self.leastWrapped)] : widths
        for floor in [wrapping, least, [min(widths[0], Self.leastWidth)] + least.dropFirst()] {
            while excess > 0,
                let widest = widths.indices.filter({ widths[$0] > floor[$0] }).max(by: { widths[$0] < widths[$1] })
            {
                widths[widest] -= 1
                excess -= 1
            }
        }
        return widths
    }

    /// Maximum width of a column that is not wrapped, in terminal cells.
    private static let mostWidth = 256
    /// Minimum width of a cut column of words, in terminal cells.
    private static let leastWidth = 8
    /// Minimum width of a wrapped column, in terminal cells: narrower sentences are unreadable.
    private static let leastWrapped = 24

    private func width(of column: Int, where isCounted: (Cell) -> Bool) -> Int {
        rows.map { $0.count > column && isCounted($0[column]) ? $0[column].text.displayWidth : 0 }.max() ?? 0
    }

    // MARK: Wrapping

    private func wrapped(_ row: [Cell], _ widths: [Int]) -> [[Cell]] {
        guard wrapsLast, row.count == widths.count, let last = row.last else { return [row] }
        let lines = last.text.wrapped(toCells: max(1, widths[row.count - 1]))
        return lines.enumerated().map { index, text in
            (index == 0 ? row.dropLast() : row.dropLast().map { _ in Cell("") }) + [Cell(text, last.colour)]
        }
    }
}

extension String {
    /// Breaks text into lines of at most `cells` terminal cells, at blanks unless a word is longer than a line.
    package func wrapped(toCells cells: Int) -> [String] {
        guard displayWidth > cells else { return [self] }
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ", omittingEmptySubsequences: false) {
            var word = line.isEmpty ? String(word) : "\(line) \(word)"
            if word.displayWidth > cells, !line.isEmpty {
                lines.append(line)
                word = String(word.dropFirst(line.count + 1))
            }
            while word.displayWidth > cells, cells > 1 {
                let head = word.prefix(cells: cells)
                lines.append(head)
                word = String(word.dropFirst(head.count))
            }
            line = word
        }
        return lines + [line]
    }
}

import MeterModel

/// Columns for people: as wide as their widest cell, two blanks apart.
package struct Table {
    private var rows: [[Cell]]

    package struct Cell {
        /// In a form that is safe to show to people.
        package let text: String
        package var colour: Terminal.Colour?

        package init(_ text: String, _ colour: Terminal.Colour? = nil) {
            self.text = text.visible
            self.colour = colour
        }
    }

    package init(_ header: [String]) { rows = [header.map { Cell($0, .dim) }] }

    package mutating func add(_ cells: [Cell]) { rows.append(cells) }

    package mutating func add(_ cells: [String]) { rows.append(cells.map { Cell($0) }) }

    package func print() {
        for line in lines { Terminal.exact(line) }
    }

    /// Without trailing blanks.
    package var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.count > column ? $0[column].text.count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            var gap = 0
            for (column, cell) in row.enumerated() where !cell.text.isEmpty || column < row.count - 1 {
                if !cell.text.isEmpty {
                    line += String(repeating: " ", count: gap)
                    line += cell.colour.map { Terminal.coloured(cell.text, $0) } ?? cell.text
                    gap = 0
                }
                gap += widths[column] - cell.text.count + 2
            }
            return line
        }
    }
}

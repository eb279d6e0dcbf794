/// Columns for people: as wide as their widest cell, two blanks apart.
struct Table {
    private var rows: [[Cell]]

    struct Cell {
        var text: String
        var colour: Terminal.Colour?

        init(_ text: String, _ colour: Terminal.Colour? = nil) {
            self.text = text
            self.colour = colour
        }
    }

    init(_ header: [String]) { rows = [header.map { Cell($0, .dim) }] }

    mutating func add(_ cells: [Cell]) { rows.append(cells) }

    func print() {
        for line in lines { Terminal.line(line) }
    }

    var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].text.count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let text = cell.colour.map { Terminal.coloured(cell.text, $0) } ?? cell.text
                let isLast = column == row.count - 1
                line += text + (isLast ? "" : String(repeating: " ", count: widths[column] - cell.text.count + 2))
            }
            return line
        }
    }
}

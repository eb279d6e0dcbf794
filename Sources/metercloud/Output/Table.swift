/// Columns for people: as wide as their widest cell, two blanks apart.
struct Table {
    private var rows: [[String]]

    init(_ header: [String]) { rows = [header] }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// Without the blanks at the ends of lines.
    var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, text) in row.enumerated() {
                let isLast = column == row.count - 1
                line += text + (isLast ? "" : String(repeating: " ", count: widths[column] - text.count + 2))
            }
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

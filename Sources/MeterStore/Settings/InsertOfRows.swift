import GRDB

/// A statement that writes several rows of a table at once: beginning and ending one costs as much as a short row.
struct InsertOfRows: Sendable {
    /// Most rows of one statement; more take several.
    static let rowsMax = 8
    /// The statement for each number of rows, from one.
    private let texts: [String]

    /// - Parameters:
    ///   - head: up to the columns' names: `INSERT INTO table (one, two)`.
    ///   - columns: number of them.
    ///   - tail: what follows the values.
    init(_ head: String, columns: Int, _ tail: String = "") {
        let row = "(\(Array(repeating: "?", count: columns).joined(separator: ", ")))"
        texts = (1...Self.rowsMax).map { count in
            "\(head) VALUES \(Array(repeating: row, count: count).joined(separator: ", ")) \(tail)"
        }
    }

    /// Writes a row for each element, in order.
    ///
    /// - Parameter values: of an element's row, one for each column.
    func run<Element, each Value: StatementBinding>(
        _ elements: [Element], _ db: Database, values: (Element) -> (repeat each Value)
    ) throws {
        var rest = elements[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.rowsMax)
            rest = rest.dropFirst(part.count)
            let statement = try db.cachedStatement(sql: texts[part.count - 1])
            statement.unbind()
            var bound: CInt = 0
            for element in part {
                let row = values(element)
                try statement.bind(repeat each row, after: &bound)
            }
            statement.checkBound(bound)
            try statement.execute()
        }
    }
}

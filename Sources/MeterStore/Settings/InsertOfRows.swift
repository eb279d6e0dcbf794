import GRDB

/// Inserts several rows per statement, because a statement's fixed cost is as high as the cost of a short row.
struct InsertOfRows: Sendable {
    static let rowsMax = 8
    private let texts: [String]

    init(_ head: String, columns: Int, _ tail: String = "") {
        let row = "(\(Array(repeating: "?", count: columns).joined(separator: ", ")))"
        texts = (1...Self.rowsMax).map { count in
            "\(head) VALUES \(Array(repeating: row, count: count).joined(separator: ", ")) \(tail)"
        }
    }

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

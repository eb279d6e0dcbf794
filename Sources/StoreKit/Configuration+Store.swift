package import GRDB

extension Configuration {
    /// - Parameter busyTimeout: maximum wait of a statement for another program that uses the file.
    package init(label: String, busyTimeout: Duration) {
        self.init()
        self.label = label
        let (seconds, attoseconds) = busyTimeout.components
        busyMode = .timeout(Double(seconds) + Double(attoseconds) / 1e18)
    }

    /// Makes each connection that can write pass the text of each statement to `body`, before the statement runs.
    package mutating func onStatement(_ body: (@Sendable (String) -> Void)?) {
        guard let body else { return }
        prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            db.trace { event in
                if case .statement(let statement) = event { body(statement.sql) }
            }
        }
    }
}

package import Foundation
import GRDB

/// The SQLite file of a store, in a test's hands.
package struct StoreFile {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// Changes it without the program's knowledge.
    package func edit(_ sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in try db.execute(sql: sql) }
        try queue.close()
    }

    /// Creates it as an earlier version of the program left it.
    ///
    /// - Parameter dump: the text of the whole database.
    package func create(from dump: URL) throws {
        let text = try String(contentsOf: dump, encoding: .utf8)
        var configuration = Configuration()
        // A dump has its tables in the order of their names.
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in try db.execute(sql: text) }
        try queue.close()
    }
}

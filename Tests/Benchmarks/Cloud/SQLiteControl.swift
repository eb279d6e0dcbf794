import FoundationEssentials
import GRDB

/// What SQLite does by itself with the same rows: one connection, prepared statements, a log, and each commit waited
/// for (`synchronous = FULL`), as the stores do.
final class SQLiteControl {
    private let folder: TemporaryFolder
    private let queue: DatabaseQueue
    private var rows = 0

    init() throws {
        folder = try TemporaryFolder()
        queue = try DatabaseQueue(path: "\(folder.path)/control.db")
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.execute(
                sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body BLOB NOT NULL)")
        }
    }

    /// Commits so many new rows in batches.
    ///
    /// - Returns: how long each batch took.
    func write(_ count: Int, bytesEach: Int, perBatch: Int) throws -> CallTimes {
        let body = Data(repeating: 0x20, count: bytesEach)
        let begin = Clocks.wall
        var times: [Double] = []
        try queue.writeWithoutTransaction { db in
            let statement = try db.makeStatement(sql: "INSERT INTO item (name, body) VALUES (?, ?)")
            for start in stride(from: 0, to: count, by: perBatch) {
                let sent = Clocks.wall
                try db.inTransaction {
                    for _ in start..<min(start + perBatch, count) {
                        rows += 1
                        try statement.execute(arguments: ["row-\(rows)", body])
                    }
                    return .commit
                }
                times.append(Clocks.wall - sent)
            }
        }
        return CallTimes(times, total: Clocks.wall - begin)
    }

    /// Reads so many rows, in their order, again and again.
    func read(_ count: Int, rounds: Int) throws -> CallTimes {
        let begin = Clocks.wall
        var times: [Double] = []
        for _ in 0..<rounds {
            let sent = Clocks.wall
            let bytes = try queue.read { db in
                try Row.fetchCursor(db, sql: "SELECT name, body FROM item ORDER BY id LIMIT ?", arguments: [count])
                    .reduce(into: 0) { $0 += ($1["body"] as Data).count }
            }
            guard bytes > 0 else { throw BenchmarkError("there are no rows to read") }
            times.append(Clocks.wall - sent)
        }
        return CallTimes(times, total: Clocks.wall - begin)
    }
}

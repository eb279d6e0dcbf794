import Cloud
import GRDB

enum TimelineTable {
    static func newest(of zone: Int64, _ db: Database) throws -> TimelineMark? {
        let statement = try db.cachedStatement(
            sql: "SELECT number, id, first FROM timeline WHERE zone = ? ORDER BY number DESC LIMIT 1")
        return try Row.fetchOne(statement, arguments: [zone]).map { TimelineMark($0) }
    }

    static func pair(at number: UInt64, of zone: Int64, _ db: Database) throws -> [TimelineMark] {
        let statement = try db.cachedStatement(
            sql: "SELECT number, id, first FROM timeline WHERE zone = ? AND number >= ? ORDER BY number LIMIT 2")
        return try Row.fetchAll(statement, arguments: [zone, Int64(clamping: number)]).map { TimelineMark($0) }
    }

    static func all(of zone: Int64, _ db: Database) throws -> [TimelineMark] {
        try Row.fetchAll(
            db, sql: "SELECT number, id, first FROM timeline WHERE zone = ? ORDER BY number", arguments: [zone]
        ).map { TimelineMark($0) }
    }

    static func insert(_ mark: TimelineMark, of zone: Int64, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO timeline (zone, number, id, first) VALUES (?, ?, ?, ?)",
            arguments: [
                zone, Int64(clamping: mark.number), Int64(bitPattern: mark.id), Int64(clamping: mark.first),
            ])
    }

    static func removeOutdated(of zone: Int64, floor: UInt64, _ db: Database) throws {
        guard let last = TimelineMark.outdated(try all(of: zone, db), floor: floor).last else { return }
        try db.execute(
            sql: "DELETE FROM timeline WHERE zone = ? AND number <= ?",
            arguments: [zone, Int64(clamping: last.number)])
    }
}

extension TimelineMark {
    fileprivate init(_ row: Row) {
        self.init(
            number: UInt64(clamping: row["number"] as Int64), id: UInt64(bitPattern: row["id"] as Int64),
            first: UInt64(clamping: row["first"] as Int64))
    }
}

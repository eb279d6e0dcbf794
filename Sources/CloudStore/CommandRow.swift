package import Cloud
package import Domain
import Foundation
import GRDB

enum CommandRow {
    static func addTable(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Commands that a holder has claimed, or that ended without a claim. They stay for a minute or two.
                -- mark: given once, also to a command that has changed. author: the host whose share it uses.
                -- body: StoredCommand as JSON.
                CREATE TABLE command (
                    mark INTEGER PRIMARY KEY AUTOINCREMENT,
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    request TEXT NOT NULL,
                    author TEXT NOT NULL,
                    body BLOB NOT NULL
                ) STRICT;
                CREATE UNIQUE INDEX command_key ON command (zone, request);
                CREATE INDEX command_share ON command (zone, author);
                """)
    }

    static func fetch(_ id: RequestID, in zone: Int64, _ db: Database) throws -> StoredCommand? {
        let statement = try db.cachedStatement(sql: "SELECT body FROM command WHERE zone = ? AND request = ?")
        guard let body = try Data.fetchOne(statement, arguments: [zone, id.description]) else { return nil }
        do {
            return try JSONDecoder().decode(StoredCommand.self, from: body)
        } catch {
            throw CloudStoreError(.damaged, "the command \(id) cannot be read (\(error)). Restore from a backup")
        }
    }

    static func write(_ command: StoredCommand, _ id: RequestID, in zone: Int64, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO command (zone, request, author, body) VALUES (?, ?, ?, ?)")
        try statement.execute(
            arguments: [zone, id.description, command.wish.author, try JSONEncoder().encode(command)])
    }
}

extension SQLiteCloudEngine {
    package func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer {
        try await writer.write { batch in
            let zone = try batch.zone(zone).id
            let lease = try meter.flatMap { try batch.lease(LeaseKey(zone: zone, meter: $0)) }
            let decision = rule(try CommandRow.fetch(id, in: zone, batch.db), lease)
            if let command = decision.command { try CommandRow.write(command, id, in: zone, batch.db) }
            return decision.answer
        }
    }

    package func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts {
        let id = try zoneTable.zone(zone).id
        return try await read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT count(*) FILTER (WHERE author = ?), count(*) FROM command WHERE zone = ?")
            guard let row = try Row.fetchOne(statement, arguments: [author.description, id]) else {
                return CommandCounts(host: 0, zone: 0)
            }
            return CommandCounts(host: row[0], zone: row[1])
        }
    }

    package func commandMarks() async throws -> [CommandMark] {
        try await read { db in
            try Row.fetchAll(
                db, sql: "SELECT mark, name, request, author FROM command JOIN zone ON zone.id = command.zone"
            ).compactMap { row in
                guard let id = RequestID(row["request"] as String) else { return nil }
                return CommandMark(zone: row["name"], requestID: id, author: row["author"], mark: row["mark"])
            }
        }
    }

    package func forget(_ commands: [CommandMark]) async throws {
        try await writer.write(weight: commands.count) { batch in
            let statement = try batch.db.cachedStatement(sql: "DELETE FROM command WHERE mark = ?")
            for seen in commands { try statement.execute(arguments: [seen.mark]) }
        }
    }
}

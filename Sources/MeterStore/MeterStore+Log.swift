package import Domain
import GRDB
package import Gateway

extension MeterStore: LogRepository {
    package func lastLogNumber() async throws(StoreError) -> Int64 {
        try await access("read") { db in try Int64.fetchOne(db, sql: "SELECT max(number) FROM meter_log") ?? 0 }
    }

    package func endHoldings(_ end: LogHolding.End) async throws(StoreError) {
        try await transaction { db in
            try db.execute(
                sql: "UPDATE meter_log SET detail = ? WHERE kind = 'held' AND detail IS NULL", arguments: [end.rawValue]
            )
        }
    }

    package func keepLog(_ lines: [StoredLogLine], countMax: Int) async throws(StoreError) {
        for line in lines { try checkStorable(line.meter) }
        let boot = boot
        try await transaction { db in
            for line in lines { try LogRow(line, boot: boot).write(db) }
            for meter in Set(lines.map(\.meter.description)).sorted() {
                let statement = try db.cachedStatement(
                    sql: """
                        DELETE FROM meter_log WHERE meter = ?1 AND number <= (
                            SELECT number FROM meter_log WHERE meter = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)
                        """)
                try statement.execute(arguments: [meter, countMax])
            }
        }
    }

    package func log(of meters: [MeterID], limit: Int) async throws(StoreError) -> [StoredLogLine] {
        let (boot, ids) = (boot, meters.map(\.description))
        return try await access("read") { db in
            let places = ids.map { _ in "?" }.joined(separator: ", ")
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM meter_log WHERE meter IN (\(places)) ORDER BY number DESC LIMIT ?",
                arguments: StatementArguments(ids) + [limit])
            return rows.reversed().compactMap { LogRow($0).line(boot: boot) }
        }
    }

    package func pruneLog(before cutoff: WallTime) async throws(StoreError) -> Int {
        try await transaction { db in
            try db.execute(
                sql: """
                    DELETE FROM meter_log WHERE max(first_ms, last_ms) < ?1 AND (kind <> 'held' OR detail IS NOT NULL)
                        AND \(Self.isUndoubted)
                    """, arguments: [cutoff.millisecondsSince1970])
            return db.changesCount
        }
    }

    private static let isUndoubted = StoreSchema.isUndoubted(
        from: "min(meter_log.first_ms, meter_log.last_ms)", to: "max(meter_log.first_ms, meter_log.last_ms)",
        cutoff: "?1")

    package func deleteLog(of meter: MeterID) async throws(StoreError) {
        try await transaction { db in
            try db.execute(sql: "DELETE FROM meter_log WHERE meter = ?", arguments: [meter.description])
        }
    }
}

private struct LogRow {
    private var number: Int64
    private var meter: String
    private var kind: String
    private var what: String
    private var detail: String?
    private var author: String?
    private var authorName: String?
    private var token: Int64?
    private var lastToken: Int64?
    private var count: Int
    private var wall: (first: Int64, last: Int64)
    private var boot: String?
    private var sinceBoot: (first: Int64?, last: Int64?)

    init(_ line: StoredLogLine, boot: String?) {
        let entry = line.entry
        (number, meter, count) = (line.number, line.meter.description, entry.count)
        switch entry.event {
        case .held(let holding):
            (kind, what, detail) = ("held", holding.transport.rawValue, holding.end?.rawValue)
            token = holding.token.map { Int64(clamping: $0.rawValue) }
            lastToken = holding.lastToken.map { Int64(clamping: $0.rawValue) }
        case .state(let state, let cause): (kind, what, detail) = ("state", state.rawValue, cause)
        case .command(let command, let by, let outcome):
            (kind, what, detail) = ("command", command, outcome)
            switch by {
            case .person: author = Self.person
            case .broker: author = Self.broker
            case .host(let id, let name): (author, authorName) = (id.description, name)
            }
        case .remedy(let remedy, let adapter, let cause):
            (kind, what, detail, author) = ("remedy", remedy, cause, adapter.description)
        case .alert(let title, let outcome): (kind, what, detail) = ("alert", title, outcome)
        }
        wall = (entry.first.wall.millisecondsSince1970, entry.last.wall.millisecondsSince1970)
        sinceBoot = (
            entry.first.sinceBoot?.sinceOrigin.milliseconds, entry.last.sinceBoot?.sinceOrigin.milliseconds
        )
        self.boot = sinceBoot.last == nil ? nil : boot
    }

    private static let person = "person"
    private static let broker = "broker"

    func write(_ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO meter_log
                    (number, meter, kind, what, detail, author, author_name, token, last_token, count, first_ms,
                    last_ms, boot, first_since_boot_ms, last_since_boot_ms)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            number, meter, kind, what, detail, author, authorName, token, lastToken, count, wall.first, wall.last, boot,
            sinceBoot.first, sinceBoot.last,
        ])
    }

    init(_ row: Row) {
        (number, meter, kind) = (row["number"], row["meter"], row["kind"])
        (what, detail) = (row["what"], row["detail"])
        (author, authorName) = (row["author"], row["author_name"])
        (token, lastToken, count) = (row["token"], row["last_token"], row["count"])
        wall = (row["first_ms"], row["last_ms"])
        boot = row["boot"]
        sinceBoot = (row["first_since_boot_ms"], row["last_since_boot_ms"])
    }

    /// - Returns: nil for an invalid line, which the caller skips.
    func line(boot present: String?) -> StoredLogLine? {
        guard let meter = MeterID(meter), let event else { return nil }
        let isOfThisBoot = boot != nil && boot == present
        func moment(_ wall: Int64, _ sinceBoot: Int64?) -> LogMoment {
            LogMoment(
                wall: WallTime(millisecondsSince1970: wall),
                sinceBoot: isOfThisBoot ? sinceBoot.map { .origin + .milliseconds($0) } : nil)
        }
        return StoredLogLine(
            number: number, meter: meter,
            entry: LogEntry(
                event, first: moment(wall.first, sinceBoot.first), last: moment(wall.last, sinceBoot.last), count: count
            ))
    }

    private var event: LogEvent? {
        switch kind {
        case "held":
            LeaseTransport(rawValue: what).map { transport in
                .held(
                    LogHolding(
                        token: token.map { FencingToken(rawValue: UInt64(stored: $0)) },
                        lastToken: lastToken.map { FencingToken(rawValue: UInt64(stored: $0)) }, transport: transport,
                        end: detail.flatMap { LogHolding.End(rawValue: $0) }))
            }
        case "state": ConnectionState(rawValue: what).map { .state($0, cause: detail ?? "") }
        case "command": commandAuthor.map { .command(what, by: $0, outcome: detail ?? "") }
        case "alert": .alert(what, outcome: detail ?? "")
        case "remedy": author.flatMap { MACAddress($0) }.map { .remedy(what, adapter: $0, cause: detail ?? "") }
        default: nil
        }
    }

    private var commandAuthor: LogAuthor? {
        switch author {
        case nil: nil
        case Self.person: .person
        case Self.broker: .broker
        case let id?: HostID(id).map { .host($0, name: authorName ?? id) }
        }
    }
}

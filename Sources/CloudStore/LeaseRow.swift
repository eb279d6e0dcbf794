import Domain
import GRDB

enum LeaseRow {
    static func fetch(_ key: LeaseKey, _ db: Database) throws -> LeaseRecord? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM lease WHERE zone = ? AND meter = ?")
        return try Row.fetchOne(statement, arguments: [key.zone, key.meter]).map { try record($0, renewedAt: .origin) }
    }

    /// - Parameters:
    ///   - zone: nil for all zones.
    ///   - isHeldOnly: whether to skip free leases.
    ///   - renewedAt: for all records, because rows contain none.
    static func forEach(
        _ db: Database, in zone: Int64?, isHeldOnly: Bool, renewedAt: MonotonicTime,
        _ body: (LeaseKey, LeaseRecord) throws -> Void
    ) throws {
        var (conditions, arguments) = (["1"], StatementArguments())
        if isHeldOnly { conditions.append("state <> 'free'") }
        if let zone {
            conditions.append("zone = ?")
            arguments += [zone]
        }
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM lease WHERE \(conditions.joined(separator: " AND ")) ORDER BY zone, meter",
            arguments: arguments)
        while let row = try rows.next() {
            try body(LeaseKey(zone: row["zone"], meter: row["meter"]), try record(row, renewedAt: renewedAt))
        }
    }

    static func page(
        of zone: Int64, after meter: String?, limit: Int, _ db: Database
    ) throws -> [(key: LeaseKey, record: LeaseRecord)] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM lease WHERE zone = ? AND meter > ? ORDER BY meter LIMIT ?",
            // The empty text sorts before all meters.
            arguments: [zone, meter ?? "", limit]
        ).map { (LeaseKey(zone: zone, meter: $0["meter"]), try record($0, renewedAt: .origin)) }
    }

    private static func record(_ row: Row, renewedAt: MonotonicTime) throws -> LeaseRecord {
        let meter: String = row["meter"]
        let state: LeaseRecord.State =
            switch (row["state"] as String, LeaseHolder(row)) {
            case ("free", _): .free
            case ("held", let holder?): .held(holder)
            case ("revoking", let holder?): .revoking(holder)
            case (let state, _):
                throw CloudStoreError(
                    .damaged, "the lease of \(meter) is \(state), and its holder cannot be read. Restore from a backup")
            }
        let token = FencingToken(rawValue: UInt64(clamping: row["token"] as Int64))
        var grants = try grants(row["earlier_grants"], of: meter)
        let request: String? = row["request"]
        if let request = request.flatMap({ RequestID($0) }) {
            grants.append(LeaseGrant(requestID: request, token: token))
        }
        return LeaseRecord(
            state: state, token: token, terms: try LeaseTerms(row, of: "the lease of \(meter)"), renewedAt: renewedAt,
            grants: grants)
    }

    /// - Parameter text: pairs of a request and its fencing token, all separated by blanks. NULL in rows of older
    ///   versions.
    private static func grants(_ text: String?, of meter: String) throws -> [LeaseGrant] {
        let words = text?.split(separator: " ") ?? []
        return try stride(from: 0, to: words.count, by: 2).map { index in
            guard let request = RequestID(words[index]), index + 1 < words.count, let token = UInt64(words[index + 1])
            else { throw CloudStoreError(.damaged, "the grants of \(meter) cannot be read. Restore from a backup") }
            return LeaseGrant(requestID: request, token: FencingToken(rawValue: token))
        }
    }

    private static func text(_ grants: some Collection<LeaseGrant>) -> String {
        grants.map { "\($0.requestID) \($0.token.rawValue)" }.joined(separator: " ")
    }

    static func write(_ record: LeaseRecord, _ key: LeaseKey, _ db: Database) throws {
        let state =
            switch record.state {
            case .free: "free"
            case .held: "held"
            case .revoking: "revoking"
            }
        let holder = record.holder
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO lease
                (zone, meter, token, state, host, host_name, session, transport, acquired_ms, ttl_ms, lock_delay_ms,
                 policy, request, earlier_grants)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            key.zone, key.meter, Int64(clamping: record.token.rawValue), state, holder?.host.description,
            holder?.hostName, holder?.session.description, holder?.transport.rawValue,
            holder?.acquiredAt.millisecondsSince1970, record.terms.timeToLive.milliseconds,
            record.terms.lockDelay.milliseconds, record.terms.policy.rawValue,
            record.grants.last?.requestID.description, text(record.grants.dropLast()),
        ])
    }
}

extension LeaseHolder {
    fileprivate init?(_ row: Row) {
        guard let host: String = row["host"], let session: String = row["session"], let name: String = row["host_name"],
            let transport: String = row["transport"], let acquired: Int64 = row["acquired_ms"],
            let host = HostID(host), let session = SessionID(session),
            let transport = LeaseTransport(rawValue: transport)
        else { return nil }
        self.init(
            host: host, hostName: name, session: session, transport: transport,
            acquiredAt: WallTime(millisecondsSince1970: acquired))
    }
}

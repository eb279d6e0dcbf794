package import Domain
import GRDB
package import Gateway

extension MeterStore: EnergyCountRepository {
    package func energyCounts() async throws(StoreError) -> [MeterID: EnergyCount] {
        try await access("read") { db in
            var counts: [MeterID: EnergyCount] = [:]
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT meter, energy_Wh, charge_mAh, counted_s, since_ms, own_energy_Wh, own_charge_mAh, own_group,
                           own_ms, lease_token
                    FROM energy_count
                    """)
            while let row = try rows.next() {
                let text: String = row[0]
                let (since, ownAt, token): (Int64?, Int64?, Int64?) = (row[4], row[8], row[9])
                // Skip an id that cannot be parsed, which this program did not write.
                guard let meter = MeterID(text) else { continue }
                counts[meter] = EnergyCount(
                    energy_Wh: row[1], charge_mAh: row[2], seconds: row[3],
                    since: since.map { WallTime(millisecondsSince1970: $0) },
                    own: ownAt.map {
                        OwnCounters(
                            charge_mAh: row[6], energy_Wh: row[5], group: row[7],
                            at: WallTime(millisecondsSince1970: $0))
                    }, token: token.flatMap { UInt64(exactly: $0) })
            }
            return counts
        }
    }

    package func keepEnergyCount(_ count: EnergyCount?, of meter: MeterID) async throws(StoreError) {
        try checkStorable(meter)
        try await access("written") { db in
            try db.inDurableTransaction { db in
                if let count { return try Self.write(count, of: meter, db) }
                try db.execute(sql: "DELETE FROM energy_count WHERE meter = ?", arguments: [meter.description])
            }
        }
    }

    static func write(_ count: EnergyCount, of meter: MeterID, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO energy_count
                    (meter, energy_Wh, charge_mAh, counted_s, since_ms, own_energy_Wh, own_charge_mAh, own_group, own_ms,
                     lease_token)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            meter.description, count.energy_Wh, count.charge_mAh, count.seconds, count.since?.millisecondsSince1970,
            count.own?.energy_Wh, count.own?.charge_mAh, count.own?.group, count.own?.at.millisecondsSince1970,
            count.token.flatMap { Int64(exactly: $0) },
        ])
    }
}

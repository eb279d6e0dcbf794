package import Cloud
package import Domain
import GRDB
import StoreKit

extension SQLiteCloudEngine: DepartingStore {
    package func contents() async throws -> StoreContents {
        try await read { db in
            let floor = try Meta.tokenFloor.read(db).flatMap { UInt64($0) } ?? 0
            let books = try AliasTable.fetchAll(db)
            return StoreContents(
                epoch: try Meta.epoch.read(db) ?? "", tokenFloor: FencingToken(rawValue: floor),
                isRestoring: try Meta.restoring.read(db) != nil,
                zones: try StoredZone.fetchAll(db)
                    .map {
                        StoreContents.OneZone(
                            zone: $0.zone, floor: $0.floor, accepted: $0.accepted,
                            marks: try TimelineTable.all(of: $0.id, db), aliases: books[$0.id] ?? AliasBook(),
                            leases: $0.leases)
                    }
                    .sorted { $0.zone.name < $1.zone.name },
                credentials: try CredentialRow.fetchAll(db), destination: try Meta.destination.read(db))
        }
    }

    package func leases(
        in zone: String, after meter: String?, limit: Int
    ) async throws -> [(meter: String, record: LeaseRecord)] {
        let id = try zoneTable.zone(zone).id
        return try await read { db in
            try LeaseRow.page(of: id, after: meter, limit: limit, db).map { ($0.key.meter, $0.record) }
        }
    }

    package func records(in zone: String, after sequence: UInt64, limit: Int) async throws -> [PlacedRecord] {
        let id = try zoneTable.zone(zone).id
        return try await read { db in try RecordRow.page(in: id, after: sequence, limit: limit, db) }
    }

    package func depart(to destination: String, at now: WallTime) async throws {
        try await writer.write { batch in
            try Meta.destination.write(destination, batch.db)
            try Meta.departed.write(String(now.millisecondsSince1970), batch.db)
        }
    }

    /// Renames a store that moved, which frees its folder. Returns the new path; nil if there was no store.
    package static func setAsideDeparted(directory: String, at now: WallTime) throws(CloudStoreError) -> String? {
        let lock = try StoreLock(directory: directory)
        defer { lock.release() }
        return try DataDirectory(directory).setAside(as: "moved", at: now)
    }
}

extension CloudStoreError {
    /// - Parameter time: in milliseconds since 1970; nil if unreadable.
    init(departed path: String, to destination: String, at time: Int64?) {
        let when = time.map { " on \(WallTime(millisecondsSince1970: $0))" } ?? ""
        self.init(
            .departed,
            "what was in \(path) moved to \(destination)\(when), and this file is the past. Serve that one, with "
                + "metercloud serve --engine etcd; should the move have been interrupted, run metercloud migrate again; "
                + "metercloud restore FILE makes a new cloud of this file")
    }
}

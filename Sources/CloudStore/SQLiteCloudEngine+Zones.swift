package import Cloud
package import Domain
import GRDB
import Synchronization

extension SQLiteCloudEngine {
    package func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone {
        if let there = zoneTable.find(name) { return there.zone }
        let id = id ?? rng.withLock { Zone.ID(using: &$0) }
        return try await writer.write { batch in
            if let there = batch.findZone(name) { return there.zone }
            let zone = Zone(name: name, id: id, terms: terms)
            try batch.db.execute(
                sql: """
                    INSERT INTO zone (name, identity, ttl_ms, lock_delay_ms, policy, bytes_max, records_max,
                        host_bytes_max, host_records_max) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    name, id.description, terms.timeToLive.milliseconds, terms.askedLockDelay.milliseconds,
                    terms.policy.rawValue, zone.quota.zone.bytes, zone.quota.zone.records, zone.quota.host.bytes,
                    zone.quota.host.records,
                ])
            batch.setZone(StoredZone(id: batch.db.lastInsertedRowID, zone: zone, floor: 0, accepted: 0))
            return zone
        }
    }

    package func zones() async throws -> [Zone] { zoneTable.zones.map(\.zone) }

    package func zone(_ name: String) async throws -> Zone? { zoneTable.find(name)?.zone }

    package func setTerms(_ terms: LeaseTerms, of zone: String) async throws {
        try await writer.write { batch in
            var stored = try batch.zone(zone)
            stored.zone.terms = terms
            try batch.db.execute(
                sql: "UPDATE zone SET ttl_ms = ?, lock_delay_ms = ?, policy = ? WHERE id = ?",
                arguments: [
                    terms.timeToLive.milliseconds, terms.askedLockDelay.milliseconds, terms.policy.rawValue, stored.id,
                ])
            batch.setZone(stored)
        }
    }

    // MARK: - Credentials

    package func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String] {
        try await writer.write { [zoneTable] batch in
            let zone = try batch.zone(credential.zone)
            let near = try CredentialRow.fetch(
                id: credential.id, hash: credential.hash, host: credential.binding?.host, batch.db)
            guard !near.contains(where: { $0.id == credential.id || $0.hash == credential.hash }) else {
                throw CloudFailure.credentialTaken(credential.id)
            }
            if let binding = credential.binding {
                _ = try credential.bound(to: binding, among: near.filter { $0.zone == credential.zone })
            }
            let replaced = try credential.replaced(
                among: near.filter { $0.zone == credential.zone }, showing: shown)
            for var other in replaced {
                other.revokedAt = credential.createdAt
                try batch.write(other, zone: zone.id, to: zoneTable)
            }
            try batch.write(credential, zone: zone.id, to: zoneTable)
            return replaced.map(\.id)
        }
    }

    package func bind(_ binding: Credential.Binding, to credential: String) async throws {
        try await writer.write { [zoneTable] batch in
            let near = try CredentialRow.fetch(id: credential, host: binding.host, batch.db)
            guard let found = near.first(where: { $0.id == credential }) else {
                throw CloudFailure.credentialNotFound(credential)
            }
            let bound = try found.bound(to: binding, among: near.filter { $0.zone == found.zone })
            guard bound != found else { return }
            try batch.write(bound, zone: try batch.zone(found.zone).id, to: zoneTable)
        }
    }

    package func credential(hash: [UInt8]) async throws -> Credential? { zoneTable.credential(hash: hash) }

    package func credentials(in zone: String?) async throws -> [Credential] { zoneTable.credentials(in: zone) }

    package func noteUse(of credential: String) async throws -> Credential? {
        try await writer.write { [zoneTable] batch in
            guard var found = try CredentialRow.fetch(id: credential, batch.db).first else { return nil }
            guard found.unusedFrom != nil, found.revokedAt == nil else { return found }
            found.unusedFrom = nil
            try batch.write(found, zone: try batch.zone(found.zone).id, to: zoneTable)
            return found
        }
    }

    package func revoke(credential id: String, at now: WallTime) async throws -> Bool {
        try await writer.write { [zoneTable] batch in
            guard var found = try CredentialRow.fetch(id: id, batch.db).first else { return false }
            guard found.revokedAt == nil else { return true }
            found.revokedAt = now
            try batch.write(found, zone: try batch.zone(found.zone).id, to: zoneTable)
            return true
        }
    }
}

extension WriteBatch {
    fileprivate func write(_ credential: Credential, zone: Int64, to table: ZoneTable) throws {
        try CredentialRow.write(credential, zone: zone, db)
        afterCommit { table.set(credential) }
    }
}

import Cloud
import Domain
import Foundation
import GRDB

enum CredentialRow {
    static func fetchAll(_ db: Database) throws -> [Credential] {
        try Row.fetchAll(db, sql: all).map { try credential($0) }
    }

    static func fetch(id: String, hash: [UInt8]? = nil, host: HostID? = nil, _ db: Database) throws -> [Credential] {
        try Row.fetchAll(
            db, sql: "\(all) WHERE credential.id = ? OR credential.hash = ? OR credential.host = ?",
            arguments: [id, hash.map { Data($0) }, host?.description]
        ).map { try credential($0) }
    }

    private static let all =
        "SELECT credential.*, zone.name AS zone_name FROM credential JOIN zone ON zone.id = credential.zone"

    private static func credential(_ row: Row) throws -> Credential {
        let id: String = row["id"]
        let kindText: String = row["kind"]
        guard let kind = Credential.Kind(rawValue: kindText) else {
            throw CloudStoreError(.damaged, "the token \(id) is of the kind \"\(kindText)\". Restore from a backup")
        }
        let roleText: String = row["role"]
        guard let role = HostRole(rawValue: roleText) else {
            throw CloudStoreError(.damaged, "the token \(id) has the role \"\(roleText)\". Restore from a backup")
        }
        let hash: Data = row["hash"]
        var credential = Credential(
            id: id, hash: [UInt8](hash), zone: row["zone_name"], kind: kind, role: role, label: row["label"],
            createdAt: WallTime(millisecondsSince1970: row["created_ms"]))
        credential.unusedFrom = row["unused_from"]
        let revoked: Int64? = row["revoked_ms"]
        credential.revokedAt = revoked.map { WallTime(millisecondsSince1970: $0) }
        if let text: String = row["host"], let name: String = row["host_name"], let machine: String = row["machine"] {
            guard let host = HostID(text) else {
                throw CloudStoreError(
                    .damaged, "the token \(id) has the host id \"\(text)\", which is not a UUID. Restore from a backup")
            }
            credential.binding = Credential.Binding(host: host, hostName: name, machine: machine)
        }
        return credential
    }

    static func write(_ credential: Credential, zone: Int64, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO credential
                (id, hash, zone, kind, label, host, host_name, machine, created_ms, revoked_ms, role,
                 unused_from)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                credential.id, Data(credential.hash), zone, credential.kind.rawValue, credential.label,
                credential.binding?.host.description, credential.binding?.hostName, credential.binding?.machine,
                credential.createdAt.millisecondsSince1970, credential.revokedAt?.millisecondsSince1970,
                credential.role.rawValue, credential.unusedFrom,
            ])
    }
}

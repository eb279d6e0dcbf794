package import Cloud
import CloudAPI
package import Domain

extension EtcdCloudEngine {
    package func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String] {
        try await finish { [self] in
            try await check(credential.zone)
            let value = try StoredCredential(credential, writer: nextWriter()).bytes
            var replaced: [Credential] = []
            try await inRounds { [self] () -> Bool in
                var bindings: HostBindings?
                if let binding = credential.binding {
                    let found = try await readBindings(of: binding.host, in: credential.zone)
                    _ = try credential.bound(to: binding, among: found.credentials)
                    replaced = try credential.replaced(among: found.credentials, showing: shown)
                    bindings = found
                }
                var transaction = EtcdTransaction(compares: [
                    EtcdCompare(key: keys.credential(hash: credential.hash), revision: 0),
                    EtcdCompare(key: keys.credentialID(credential.id), revision: 0),
                ])
                transaction.success = [
                    .put(key: keys.credential(hash: credential.hash), value: value),
                    .put(key: keys.credentialID(credential.id), value: credential.hash),
                ]
                try bindings?.write(adding: credential.hash, to: &transaction)
                for var other in replaced {
                    let key = keys.credential(hash: other.hash)
                    other.revokedAt = credential.createdAt
                    // If a host uses the replaced token for the first time meanwhile, this comparison fails, and the
                    // next round decides again.
                    transaction.compares.append(
                        EtcdCompare(key: key, revision: bindings?.revisions[other.hash] ?? 0))
                    transaction.success.append(
                        .put(key: key, value: try StoredCredential(other, writer: nextWriter()).bytes))
                }
                transaction.failure = [
                    .range(EtcdRange(key: keys.credential(hash: credential.hash))),
                    .range(EtcdRange(key: keys.credentialID(credential.id))),
                ]
                let answer = try await client.commit(transaction)
                guard !answer.succeeded else { return true }
                let (there, id) = (answer.range(0)?.entries.first, answer.range(1)?.entries.first)
                // If the stored value is ours, an earlier attempt's answer was lost.
                if there?.value == value { return true }
                guard there == nil, id == nil else { throw CloudFailure.credentialTaken(credential.id) }
                return false
            }
            return replaced.map(\.id)
        }
    }

    package func bind(_ binding: Credential.Binding, to credential: String) async throws {
        try await finish { [self] in
            try await inRounds { [self] () -> Bool in
                guard let (found, entry) = try await storedCredential(id: credential) else {
                    throw CloudFailure.credentialNotFound(credential)
                }
                let bindings = try await readBindings(of: binding.host, in: found.zone)
                let bound = try found.bound(to: binding, among: bindings.credentials)
                guard bound != found else { return true }
                var transaction = EtcdTransaction(compares: [EtcdCompare(key: entry.key, revision: entry.revision)])
                transaction.success = [
                    .put(key: entry.key, value: try StoredCredential(bound, writer: nextWriter()).bytes)
                ]
                try bindings.write(adding: found.hash, to: &transaction)
                return try await client.commit(transaction).succeeded
            }
        }
    }

    package func credential(hash: [UInt8]) async throws -> Credential? {
        try await finish { [self] in
            guard let entry = try await reads.entry(keys.credential(hash: hash)) else { return nil }
            return try Self.read(entry)
        }
    }

    package func credentials(in zone: String?) async throws -> [Credential] {
        try await finish { [self] in
            let found = try await client.read([EtcdRange(prefix: keys.allCredentials)]).ranges[0]
            return try found.entries.map { try Self.read($0) }.filter { zone == nil || $0.zone == zone }
                .sorted { ($0.zone, $0.createdAt, $0.id) < ($1.zone, $1.createdAt, $1.id) }
        }
    }

    package func noteUse(of credential: String) async throws -> Credential? {
        try await change(credential) { if $0.revokedAt == nil { $0.unusedFrom = nil } }
    }

    package func revoke(credential id: String, at now: WallTime) async throws -> Bool {
        try await change(id) { if $0.revokedAt == nil { $0.revokedAt = now } } != nil
    }

    private func change(
        _ id: String, _ body: @escaping @Sendable (inout Credential) -> Void
    ) async throws -> Credential? {
        try await finish { [self] in
            var changed: Credential?
            try await inRounds { [self] () -> Bool in
                guard case (let found, let entry)? = try await storedCredential(id: id) else { return true }
                var next = found
                body(&next)
                changed = next
                guard next != found else { return true }
                var transaction = EtcdTransaction(compares: [EtcdCompare(key: entry.key, revision: entry.revision)])
                transaction.success = [
                    .put(key: entry.key, value: try StoredCredential(next, writer: nextWriter()).bytes)
                ]
                return try await client.commit(transaction).succeeded
            }
            return changed
        }
    }

    // MARK: -

    static func read(_ entry: EtcdEntry) throws(EtcdError) -> Credential {
        guard let credential = try StoredCredential(entry).credential else {
            throw EtcdError(damaged: entry.key, "this token has an invalid value")
        }
        return credential
    }

    private func storedCredential(id: String) async throws -> (credential: Credential, entry: EtcdEntry)? {
        guard let hash = try await reads.entry(keys.credentialID(id))?.value else { return nil }
        guard let entry = try await reads.entry(keys.credential(hash: hash)) else {
            throw EtcdError(damaged: keys.credentialID(id), "there is no such token")
        }
        return (try Self.read(entry), entry)
    }

    private func readBindings(of host: HostID, in zone: String) async throws -> HostBindings {
        let key = keys.bindings(of: host, in: zone)
        var bindings = HostBindings(key: key)
        guard let entry = try await reads.entry(key) else { return bindings }
        bindings.revision = entry.revision
        bindings.stored = try StoredBindings(entry)
        for hash in bindings.stored.hashes {
            guard let entry = try await reads.entry(keys.credential(hash: hash)) else { continue }
            bindings.credentials.append(try Self.read(entry))
            bindings.revisions[hash] = entry.revision
        }
        return bindings
    }

    /// Repeats `body` until it returns true; false means that another writer changed the data first.
    private func inRounds(_ body: () async throws -> Bool) async throws {
        for _ in 0..<100 where try await body() { return }
        throw EtcdError(.overloaded, "too many others change the same token. Try again")
    }
}

/// Credentials bound to one host. Every binding changes this list, so that concurrent bindings conflict and two
/// machines never share a host id.
private struct HostBindings {
    let key: [UInt8]
    var revision: Int64 = 0
    var stored = StoredBindings()
    var credentials: [Credential] = []
    var revisions: [[UInt8]: Int64] = [:]

    init(key: [UInt8]) { self.key = key }

    func write(adding hash: [UInt8], to transaction: inout EtcdTransaction) throws {
        var next = stored
        if !next.hashes.contains(hash) { next.hashes.append(hash) }
        transaction.compares.append(EtcdCompare(key: key, revision: revision))
        transaction.success.append(.put(key: key, value: try next.bytes))
    }
}

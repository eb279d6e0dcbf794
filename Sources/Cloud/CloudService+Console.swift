package import CloudAPI
package import Domain

/// Requests of the administrator on the server's own machine, without a permission check.
extension CloudService {
    package func zones() async throws(CloudFailure) -> [Zone] { try await ask { try await engine.zones() } }

    /// Creates a zone, or returns an existing one unchanged.
    ///
    /// - Parameter id: nil for a random identity.
    /// - Throws: `badRequest` for a malformed name or identity.
    package func createZone(
        _ name: String, id: String? = nil, terms: LeaseTerms
    ) async throws(CloudFailure) -> Zone {
        guard Zone.isName(name) else {
            throw CloudFailure(
                .badRequest, "\"\(name)\" cannot name a zone: 1 to 64 of the characters a-z, 0-9, - and _ can")
        }
        let id = try Zone.id(id)
        return try await ask { try await engine.createZone(name, id: id, terms: terms) }
    }

    /// Sets the terms of new leases. A present lease gets a stricter policy with its next renewal, and no other new
    /// terms.
    package func setTerms(_ terms: LeaseTerms, of zone: String) async throws(CloudFailure) {
        try await ask { try await engine.setTerms(terms, of: zone) }
    }

    package func setQuota(_ quota: ZoneQuota, of zone: String) async throws(CloudFailure) {
        try await ask { try await engine.setQuota(quota, of: zone) }
    }

    package func usage(of zone: String) async throws(CloudFailure) -> ZoneUsage {
        try await ask { try await engine.usage(of: zone) }
    }

    package func leaseCount(of zone: String) async throws(CloudFailure) -> Int {
        try await ask { try await engine.leaseCount(of: zone) }
    }

    /// - Parameter type: nil for all.
    package func records(in zone: String, type: String?) async throws(CloudFailure) -> [SyncRecord] {
        try await ask { try await engine.records(in: zone, type: type.map { RecordType(rawValue: $0) }) }
    }

    package func record(
        type: String, name: String, in zone: String
    ) async throws(CloudFailure) -> SyncRecord? {
        let key = RecordKey(type: RecordType(rawValue: type), name: name).normalised
        return try await ask { try await engine.record(key, in: zone) }
    }

    /// Returns all leases, including free ones, without their sessions.
    package func leases(in zone: String) async throws(CloudFailure) -> LeaseList {
        let zone = try await existing(zone)
        let leases = try await ask { try await engine.leases(in: zone.name) }
        return LeaseList(leases: leases.map { body(of: $0.record, meter: $0.meter, in: zone) })
    }

    package func revokeLease(meter: String, in zone: String) async throws(CloudFailure) -> LeaseBody {
        try await revoke(try Self.meter(meter), in: try await existing(zone))
    }

    /// - Parameter zone: nil for all zones.
    package func credentials(in zone: String?) async throws(CloudFailure) -> [Credential] {
        try await ask { try await engine.credentials(in: zone) }
    }

    /// - Parameter hash: SHA-256 of the access token, which the caller generated.
    package func addCredential(
        _ kind: Credential.Kind, _ role: HostRole = .full, label: String, hash: [UInt8], in zone: String
    ) async throws(CloudFailure) -> Credential {
        guard Self.isLabel(label) else {
            throw CloudFailure(.badRequest, "a label has 1 to \(Self.labelBytesMax) bytes, no control characters")
        }
        let credential = newCredential(kind, role, label: label, hash: hash, in: zone)
        try await ask { try await engine.add(credential) }
        return credential
    }

    /// Revokes a credential and ends its event streams.
    ///
    /// - Throws: `notFound`.
    package func revokeCredential(_ id: String) async throws(CloudFailure) {
        guard try await ask({ try await engine.revoke(credential: id, at: clock.wallNow()) }) else {
            throw .credentialNotFound(id)
        }
        endStreams(of: id)
    }
}

extension Zone {
    static func id(_ text: String?) throws(CloudFailure) -> ID? {
        guard let text else { return nil }
        guard let id = ID(text) else {
            throw CloudFailure(.badRequest, "\"\(text)\" is not a zone's identity, which is a UUID")
        }
        return id
    }

    /// Returns whether the text has 1 to 64 of the characters `a-z 0-9 - _`.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

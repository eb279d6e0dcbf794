package import CloudAPI
import Domain
import Logging

extension CloudService {
    /// - Parameters:
    ///   - hash: SHA-256 of the presented access token.
    ///   - zone: zone of the request, read concurrently to save a round trip to the store.
    /// - Throws: `notAuthenticated` if the access token is unknown or revoked.
    package func authenticate(hash: [UInt8], zone: String? = nil) async throws(CloudFailure) -> Principal {
        async let present = presentZone(zone)
        guard var credential = try await ask({ try await engine.credential(hash: hash) }) else {
            throw CloudFailure(.notAuthenticated, "this token is unknown here; join with one of this cloud")
        }
        if credential.unusedFrom != nil, credential.revokedAt == nil {
            let id = credential.id
            credential = try await ask { try await engine.noteUse(of: id) } ?? credential
        }
        guard credential.revokedAt == nil else {
            throw CloudFailure(.notAuthenticated, "the token \(credential.id) was revoked; join with a new one")
        }
        return Principal(credential: credential, zone: await present)
    }

    /// Returns the zone. Nil if it is missing or cannot be read: the caller then reads it again to report the error.
    private func presentZone(_ name: String?) async -> Zone? {
        guard let name else { return nil }
        return try? await engine.zone(name)
    }

    /// - Parameter shown: hashes of the request's `oldTokens`.
    /// - Throws: `duplicateHost`, `permissionDenied`, `badRequest`.
    package func join(
        _ request: JoinRequest, by principal: Principal, newToken: (text: String, hash: [UInt8]),
        showing shown: [[UInt8]] = []
    ) async throws(CloudFailure) -> JoinAnswer {
        let binding = try Self.binding(request)
        let own = principal.credential
        switch own.kind {
        case .host:
            try await ask { try await engine.bind(binding, to: own.id) }
            logger.info("host joined", metadata: ["zone": "\(own.zone)", "host": "\(binding.host)"])
            return JoinAnswer(zone: own.zone, token: nil)
        case .enrolment:
            var credential = newCredential(
                .host, own.role, label: binding.hostName, hash: newToken.hash, in: own.zone)
            credential.binding = binding
            credential.unusedFrom = own.id
            let made = credential
            for id in try await ask({ try await engine.add(made, showing: shown) }) { endStreams(of: id) }
            logger.info(
                "host enrolled",
                metadata: ["zone": "\(own.zone)", "host": "\(binding.host)", "credential": "\(made.id)"])
            return JoinAnswer(zone: own.zone, token: newToken.text)
        }
    }

    private static func binding(_ request: JoinRequest) throws(CloudFailure) -> Credential.Binding {
        guard let host = HostID(request.hostID) else {
            throw CloudFailure(.badRequest, "\"\(request.hostID)\" is not a host id; one is a UUID")
        }
        guard isLabel(request.hostName) else {
            throw CloudFailure(.badRequest, "a host's name has 1 to \(labelBytesMax) bytes, no control characters")
        }
        guard isLabel(request.machine) else {
            throw CloudFailure(.badRequest, "a machine's digest has 1 to \(labelBytesMax) bytes")
        }
        return Credential.Binding(host: host, hostName: request.hostName, machine: request.machine)
    }

    static let labelBytesMax = 128

    static func isLabel(_ text: String) -> Bool {
        (1...labelBytesMax).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
    }

    func newCredential(
        _ kind: Credential.Kind, _ role: HostRole, label: String, hash: [UInt8], in zone: String
    ) -> Credential {
        let digits = String(nextRandom() >> 32, radix: 16)
        let id = String(repeating: "0", count: 8 - digits.count) + digits
        return Credential(
            id: id, hash: hash, zone: zone, kind: kind, role: role, label: label, createdAt: clock.wallNow())
    }

    package func account(of principal: Principal) async throws(CloudFailure) -> AccountBody {
        let name = principal.credential.zone
        let member = try member(principal, of: name)
        let zone = try await existing(name)
        let epoch = try await ask { try await engine.epoch }
        var account = AccountBody(
            zone: name, hostID: member.host.description, hostName: member.name,
            serverTime: clock.wallNow().millisecondsSince1970, epoch: epoch, policy: zone.terms.policy.rawValue,
            zoneID: zone.id.description)
        account.role = principal.credential.role.rawValue
        return account
    }

    /// Creates the principal's own zone if it is missing, with the identity that the host has stored.
    package func createZone(
        _ zone: String, _ request: ZoneRequest = ZoneRequest(zoneID: nil), by principal: Principal
    ) async throws(CloudFailure) {
        _ = try member(principal, of: zone)
        let id = try Zone.id(request.zoneID)
        _ = try await ask { try await engine.createZone(zone, id: id, terms: .standard) }
    }

    /// Opens an event stream (see `EventSubscription` for its end).
    ///
    /// - Throws: `serviceUnavailable` during shutdown.
    package func events(in zone: String, by principal: Principal) async throws(CloudFailure) -> EventSubscription {
        let member = try member(principal, of: zone)
        _ = try await existing(zone)
        let subscription = try hub.subscribe(
            to: zone, host: member.host, named: member.name, credential: member.credential)
        tellInterests(to: member.host, in: zone)
        tellWaitingCommands(to: member.host, in: zone)
        return subscription
    }
}

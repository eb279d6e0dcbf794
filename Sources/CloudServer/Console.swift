package import Cloud
import CloudAPI
import Domain
package import ServerKit

/// Carries out an administrator's requests without checks, because only the server's user can open the console's socket
/// and folder.
package struct Console: Sendable {
    private let service: CloudService
    private let makeToken: @Sendable () -> BearerToken
    private let backup: @Sendable (_ path: String) async throws -> Void

    /// - Parameter backup: writes a complete copy of the store to a new path.
    package init(
        service: CloudService, makeToken: @escaping @Sendable () -> BearerToken,
        backup: @escaping @Sendable (_ path: String) async throws -> Void
    ) {
        self.service = service
        self.makeToken = makeToken
        self.backup = backup
    }

    package func answer(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        switch request {
        case .createZone(let name, let id, let terms):
            let terms = try terms.applied(to: .standard)
            return .zone(try await described(try await service.createZone(name, id: id, terms: terms)))
        case .zones:
            var zones: [ConsoleZone] = []
            for zone in try await service.zones() { zones.append(try await described(zone)) }
            return .zones(zones)
        case .zone(let name): return .zone(try await described(try await zone(name)))
        case .setTerms(let name, let terms):
            let terms = try terms.applied(to: try await zone(name).terms)
            try await service.setTerms(terms, of: name)
            return .zone(try await described(try await zone(name)))
        case .setQuota(let name, let quota):
            try await service.setQuota(try quota.applied(to: try await zone(name).quota), of: name)
            return .zone(try await described(try await zone(name)))
        case .records(let zone, let type): return .records(try await service.records(in: zone, type: type))
        case .record(let zone, let type, let name):
            guard let record = try await service.record(type: type, name: name, in: zone) else {
                throw CloudFailure(.notFound, "the zone \(zone) has no record \(type) \"\(name)\"")
            }
            return .record(record)
        case .deleteRecord(let zone, let type, let name):
            return .record(try await service.deleteRecord(type: type, name: name, in: zone))
        case .hosts(let zone): return .hosts(try await service.hosts(in: zone))
        case .retireHost(let zone, let host): return .host(try await service.retire(host, in: zone))
        case .leases(let zone): return .leases(try await service.leases(in: zone).leases)
        case .revokeLease(let zone, let meter):
            return .lease(try await service.revokeLease(meter: meter, in: zone))
        case .createToken, .createReadOnlyToken, .tokens, .revokeToken: return try await answerAboutTokens(request)
        case .backup(let path):
            try await backup(path)
            return .done
        }
    }

    private func answerAboutTokens(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        switch request {
        case .createToken(let zone, let isEnrolment, let label):
            return try await newToken(isEnrolment ? .enrolment : .host, .full, label, in: zone)
        case .createReadOnlyToken(let zone, let isEnrolment, let label):
            return try await newToken(isEnrolment ? .enrolment : .host, .readOnly, label, in: zone)
        case .revokeToken(let id):
            try await service.revokeCredential(id)
            return .done
        case .tokens(let zone): return .tokens(try await service.credentials(in: zone).map(ConsoleToken.init))
        default: throw CloudFailure(.notFound, "the console knows no such request")
        }
    }

    private func newToken(
        _ kind: Credential.Kind, _ role: HostRole, _ label: String, in zone: String
    ) async throws(CloudFailure) -> ConsoleAnswer {
        let token = makeToken()
        let credential = try await service.addCredential(kind, role, label: label, hash: token.hash, in: zone)
        return .newToken(ConsoleToken(credential), text: token.text)
    }

    private func described(_ zone: Zone) async throws(CloudFailure) -> ConsoleZone {
        ConsoleZone(zone, try await service.usage(of: zone.name), leases: try await service.leaseCount(of: zone.name))
    }

    private func zone(_ name: String) async throws -> Zone {
        guard let zone = try await service.zones().first(where: { $0.name == name }) else {
            throw CloudFailure(.zoneNotFound, "there is no zone \"\(name)\"; metercloud zone create \(name) makes it")
        }
        return zone
    }
}

extension ConsoleTerms {
    func applied(to terms: LeaseTerms) throws(CloudFailure) -> LeaseTerms {
        var policy = terms.policy
        if let text = self.policy {
            guard let wanted = LeasePolicy(rawValue: text) else {
                throw CloudFailure(.badRequest, "\"\(text)\" is not a policy; it is keep or strict")
            }
            policy = wanted
        }
        return LeaseTerms(
            timeToLive: ttl.map { .milliseconds($0) } ?? terms.timeToLive,
            lockDelay: lockDelay.map { .milliseconds($0) } ?? terms.askedLockDelay, policy: policy)
    }
}

extension ConsoleQuota {
    func applied(to quota: ZoneQuota) throws(CloudFailure) -> ZoneQuota {
        for limit in [bytes, records, hostBytes, hostRecords, leases].compactMap({ $0 }) {
            guard (0...ZoneQuota.limitMax).contains(limit) else {
                throw CloudFailure(
                    .badRequest, "\(limit) is not a limit of a zone; one is from 0 to \(ZoneQuota.limitMax)")
            }
        }
        let zone = QuotaAmount(bytes: bytes ?? quota.zone.bytes, records: records ?? quota.zone.records)
        let quarter = ZoneQuota(zone: zone).host
        return ZoneQuota(
            zone: zone,
            host: QuotaAmount(
                bytes: hostBytes ?? (bytes == nil ? quota.host.bytes : quarter.bytes),
                records: hostRecords ?? (records == nil ? quota.host.records : quarter.records)),
            leases: leases ?? quota.leases)
    }
}

extension ConsoleZone {
    init(_ zone: Zone, _ usage: ZoneUsage, leases: Int) {
        self.init(
            name: zone.name, id: zone.id.description, policy: zone.terms.policy.rawValue,
            ttl: zone.terms.timeToLive.milliseconds,
            lockDelay: zone.terms.lockDelay.milliseconds, sequence: zone.sequence)
        askedLockDelay = zone.terms.askedLockDelay.milliseconds
        quota = ConsoleQuota(
            bytes: zone.quota.zone.bytes, records: zone.quota.zone.records, hostBytes: zone.quota.host.bytes,
            hostRecords: zone.quota.host.records, leases: zone.quota.leaseLimit)
        used = ConsoleUsage(bytes: usage.total.bytes, records: usage.total.records, leases: leases)
        hosts = usage.hosts
            .map { ConsoleUsage(hostID: $0.key.description, bytes: $0.value.bytes, records: $0.value.records) }
            .sorted { ($1.bytes, $0.hostID ?? "") < ($0.bytes, $1.hostID ?? "") }
    }
}

extension ConsoleToken {
    init(_ credential: Credential) {
        self.init(
            id: credential.id, zone: credential.zone, kind: credential.kind.rawValue,
            role: credential.role.rawValue, label: credential.label,
            hostID: credential.binding?.host.description, hostName: credential.binding?.hostName,
            createdAt: credential.createdAt.description, revokedAt: credential.revokedAt?.description)
    }
}

package import CloudAPI
package import Domain
import Logging

extension CloudService {
    /// Returns every host that has a valid access token, a lease or a name in the zone, sorted by name.
    package func hosts(in zone: String) async throws(CloudFailure) -> [HostBody] {
        let zone = try await existing(zone)
        var hosts: [HostID: HostBody] = [:]
        func host(_ id: HostID, _ name: String) -> HostBody {
            hosts[id]
                ?? HostBody(
                    id: id.description, name: name, tokens: 0, leases: [],
                    listening: hub.isListening(id, in: zone.name))
        }
        for record in try await records(in: zone.name, type: RecordType.host.rawValue) where !record.isTombstone {
            guard let id = HostID(record.key.name) else { continue }
            let name = if case .string(let name)? = record.properties["name"]?.value { name } else { id.description }
            hosts[id] = host(id, name)
        }
        for credential in try await credentials(in: zone.name) {
            guard credential.revokedAt == nil, let binding = credential.binding else { continue }
            var body = host(binding.host, binding.hostName)
            body.tokens += 1
            if body.role != HostRole.full.rawValue { body.role = credential.role.rawValue }
            hosts[binding.host] = body
        }
        for (meter, record) in try await ask({ try await engine.heldLeases(in: zone.name) }) {
            guard let holder = record.holder else { continue }
            var body = host(holder.host, holder.hostName)
            body.leases.append(meter)
            hosts[holder.host] = body
        }
        return hosts.values.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    /// Permanently excludes a host: revokes its access tokens, frees its leases, and deletes its name on all hosts.
    /// Under the policy `strict`, a lease is freed only at its expiry, because the host may still use its meter.
    ///
    /// - Parameter reference: the host's id, or its name if only one host has it.
    /// - Throws: `notFound`; `badRequest` for a name that several hosts have.
    package func retire(_ reference: String, in zone: String) async throws(CloudFailure) -> HostBody {
        let zone = try await existing(zone)
        let all = try await hosts(in: zone.name)
        let named = all.filter { HostID($0.id) == HostID(reference) || $0.name == reference }
        guard named.count <= 1 else {
            let ids = named.map(\.id).joined(separator: ", ")
            throw CloudFailure(.badRequest, "\"\(reference)\" are several hosts; name one by its id: \(ids)")
        }
        guard let body = named.first, let host = HostID(body.id) else {
            throw CloudFailure(.notFound, "the zone \(zone.name) has no host \"\(reference.prefix(128))\"")
        }
        for credential in try await credentials(in: zone.name)
        where credential.revokedAt == nil && credential.binding?.host == host {
            try await revokeCredential(credential.id)
        }
        for meter in body.leases {
            let isKept = zone.terms.policy == .keep
            let change = try await ask {
                try await engine.decideLease(of: meter, in: zone.name) { lease -> LeaseDecision<LeaseChange> in
                    let record = lease.record
                    guard let record, let holder = record.holder, holder.host == host else {
                        return LeaseDecision(record: nil, answer: .unchanged(record))
                    }
                    let mayFree = isKept && record.terms.policy == .keep
                    return mayFree
                        ? LeaseRules.release(record.token, session: holder.session, of: record)
                        : LeaseRules.revoke(record)
                }
            }
            await changed(change, meter: meter, in: zone)
        }
        let key = RecordKey(type: .host, name: host.description)
        if try await ask({ try await engine.record(key, in: zone.name) })?.isTombstone == false {
            _ = try await deleteRecord(type: key.type.rawValue, name: key.name, in: zone.name)
        }
        logger.notice("host retired", metadata: ["zone": "\(zone.name)", "host": "\(host)"])
        return body
    }

    package func retire(
        _ reference: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> HostBody {
        let member = try member(principal, of: zone)
        guard HostID(reference) != member.host, reference != member.name else {
            throw CloudFailure(.badRequest, "a host does not retire itself; let it leave: meterctl cloud leave")
        }
        return try await retire(reference, in: zone)
    }

    /// Deletes a record on all hosts by storing a newer tombstone.
    ///
    /// - Throws: `notFound`; `leaseHeld` for an alias of a meter that a host holds.
    package func deleteRecord(type: String, name: String, in zone: String) async throws(CloudFailure) -> SyncRecord {
        guard let stored = try await record(type: type, name: name, in: zone), !stored.isTombstone else {
            throw CloudFailure(.notFound, "the zone \(zone) has no record \(type) \"\(name)\"")
        }
        let now = clock.wallNow()
        let newest = stored.newestStamp?.milliseconds ?? 0
        let later = newest < UInt64.max ? newest + 1 : newest
        let stamp = Stamp(
            milliseconds: max(UInt64(clamping: now.millisecondsSince1970), later), counter: 0, host: .nobody)
        let tombstone = SyncRecord(key: stored.key, deletion: Deletion(stamp: stamp))
        let outcomes = try await ask {
            try await engine.modify([tombstone], in: zone, now: now, leaseTime: clock.now())
        }
        if case .leaseHeld(let meter, let holder)? = outcomes.first?.fate {
            throw CloudFailure(
                .leaseHeld, "\(holder) has \(meter), which has to be free for that; disconnect it there, or revoke it")
        }
        hub.tellChange(of: [type], by: nil, in: zone)
        logger.notice("record deleted", metadata: ["zone": "\(zone)", "type": "\(type)", "name": "\(name)"])
        return stored
    }
}

package import Cloud
package import Domain
import GRDB
import Synchronization

extension SQLiteCloudEngine {
    package func decideLease<Answer: Sendable>(
        of meter: String, in zone: String,
        _ rule: @escaping @Sendable (LeaseSnapshot) -> LeaseDecision<Answer>
    ) async throws -> Answer {
        try await writer.write { batch in
            let id = try batch.zone(zone).id
            let standing = try batch.standing(of: LeaseKey(zone: id, meter: meter))
            let (key, before) = (LeaseKey(zone: id, meter: standing.meter), standing.record)
            let decision = rule(standing)
            guard let record = decision.record else { return decision.answer }
            if before == nil { try batch.countLease(of: standing.meter, for: record.holder?.host, in: zone) }
            // A renewal alone does not justify a wait for the disk, so renewal times are only in memory.
            var comparable = record
            comparable.renewedAt = before?.renewedAt ?? record.renewedAt
            if comparable != before { try LeaseRow.write(record, key, batch.db) }
            batch.setLease(record, key)
            return decision.answer
        }
    }

    package func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy,
        at now: MonotonicTime
    ) async throws -> [LeaseRenewal] {
        let id = try zoneTable.zone(zone).id
        if let renewals = leaseTable.renew(leases, session: session, in: id, under: policy, at: now) {
            return renewals
        }
        return try await writer.write { batch in
            try leases.map { lease in
                let standing = try batch.standing(of: LeaseKey(zone: id, meter: lease.meter))
                let decision = LeaseRules.renew(
                    lease.token, session: session, of: standing, under: policy, at: now)
                if let record = decision.record { batch.setLease(record, LeaseKey(zone: id, meter: standing.meter)) }
                return decision.answer
            }
        }
    }

    /// Returns all leases, for the console. Blocks writers meanwhile.
    package func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        let id = try zoneTable.zone(zone).id
        return try await writer.write { batch in
            var found: [(meter: String, record: LeaseRecord)] = []
            // The row contains the holder; memory contains the renewal time.
            try LeaseRow.forEach(batch.db, in: id, isHeldOnly: false, renewedAt: .origin) { key, row in
                found.append((key.meter, row.holder == nil ? row : try batch.lease(key) ?? row))
            }
            return found
        }
    }

    package func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        leaseTable.held(in: try zoneTable.zone(zone).id)
    }

    package func standing(of meter: String, in zone: String) async throws -> LeaseSnapshot {
        let key = LeaseKey(zone: try zoneTable.zone(zone).id, meter: meter)
        if let held = leaseTable.held(key) { return held }
        // Read in the writers' queue: a snapshot could show a holder without its renewals.
        return try await writer.write { batch in try batch.standing(of: key) }
    }

    package func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits {
        let (found, isOver) = limits.withLock { limits -> (LeaseLimits, Bool) in
            guard let end = limits.grantsNothingNewBefore, end <= now else { return (limits, false) }
            limits.grantsNothingNewBefore = nil
            return (limits, true)
        }
        // Once a restore's ban on new leases is over, remove its row: the next start must not repeat it.
        if isOver { try await writer.write { batch in try Meta.restoring.remove(batch.db) } }
        return found
    }
}

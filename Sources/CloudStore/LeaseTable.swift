import LeaseCore
import MeterModel
import Synchronization

struct LeaseKey: Hashable, Sendable {
    /// The zone's row.
    var zone: Int64
    var meter: String
}

/// All leases that somebody holds, in memory: renewals and lists touch nothing else.
///
/// A lease that a transaction is deciding is reserved: its renewal waits in the writers' queue, or it could be renewed
/// here and given away there.
final class LeaseTable: Sendable {
    private struct State {
        var held: [Int64: HeldLeases] = [:]
        var reserved: Set<LeaseKey> = []
    }

    private let state = Mutex(State())

    /// What the disk has at the start, one by one.
    func load(_ key: LeaseKey, _ record: LeaseRecord) {
        state.withLock { $0.held[key.zone, default: HeldLeases()][key.meter] = record }
    }

    /// nil: nobody holds it.
    var heldCount: Int { state.withLock { $0.held.values.reduce(0) { $0 + $1.count } } }

    func held(_ key: LeaseKey) -> LeaseRecord? { state.withLock { $0.held[key.zone]?[key.meter] } }

    /// By meter.
    func held(in zone: Int64) -> [(meter: String, record: LeaseRecord)] {
        state.withLock { $0.held[zone]?.all ?? [] }.sorted { $0.meter < $1.meter }
    }

    func reserve(_ key: LeaseKey) -> LeaseRecord? {
        state.withLock { state in
            state.reserved.insert(key)
            return state.held[key.zone]?[key.meter]
        }
    }

    /// The transaction is over.
    ///
    /// - Parameter leases: what they are now; none where it failed.
    func settle(_ leases: [LeaseKey: LeaseRecord]) {
        state.withLock { state in
            for (key, record) in leases {
                state.held[key.zone, default: HeldLeases()][key.meter] = record
            }
            state.reserved.removeAll(keepingCapacity: state.reserved.count < 1000)
        }
    }

    /// - Returns: nil where the writers' queue has to decide: one is reserved, or not held by anybody.
    func renew(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: Int64, under policy: LeasePolicy,
        at now: MonotonicTime
    ) -> [LeaseRenewal]? {
        state.withLock { state in
            guard let index = state.held.index(forKey: zone) else { return leases.isEmpty ? [] : nil }
            var renewals: [LeaseRenewal] = []
            renewals.reserveCapacity(leases.count)
            for lease in leases {
                let isReserved =
                    !state.reserved.isEmpty && state.reserved.contains(LeaseKey(zone: zone, meter: lease.meter))
                // Those renewed until then are renewed again in the queue, which does no harm.
                guard !isReserved, let record = state.held.values[index][lease.meter] else { return nil }
                let decision = LeaseRules.renew(
                    lease.token, session: session, of: record, under: policy, at: now)
                if let renewed = decision.record { state.held.values[index][lease.meter] = renewed }
                renewals.append(decision.answer)
            }
            return renewals
        }
    }
}

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
        var held: [Int64: [String: LeaseRecord]] = [:]
        var reserved: Set<LeaseKey> = []
    }

    private let state = Mutex(State())

    /// What the disk has at the start.
    func load(_ leases: [(key: LeaseKey, record: LeaseRecord)]) {
        state.withLock { state in
            for (key, record) in leases { state.held[key.zone, default: [:]][key.meter] = record }
        }
    }

    /// nil: nobody holds it.
    func held(_ key: LeaseKey) -> LeaseRecord? { state.withLock { $0.held[key.zone]?[key.meter] } }

    /// By meter.
    func held(in zone: Int64) -> [(meter: String, record: LeaseRecord)] {
        state.withLock { $0.held[zone] ?? [:] }.sorted { $0.key < $1.key }.map { (meter: $0.key, record: $0.value) }
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
                state.held[key.zone, default: [:]][key.meter] = record.holder == nil ? nil : record
            }
            state.reserved.removeAll(keepingCapacity: state.reserved.count < 1000)
        }
    }

    /// - Returns: nil where the writers' queue has to decide: one is reserved, or not held by anybody.
    func renew(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: Int64, at now: MonotonicTime
    ) -> [LeaseRenewal]? {
        state.withLock { state in
            guard var held = state.held[zone] else { return leases.isEmpty ? [] : nil }
            for lease in leases {
                let isReserved =
                    !state.reserved.isEmpty && state.reserved.contains(LeaseKey(zone: zone, meter: lease.meter))
                guard !isReserved, held[lease.meter] != nil else { return nil }
            }
            // Let go of the other reference, so that the table is changed in its place.
            state.held[zone] = nil
            let renewals = leases.map { lease in
                let decision = LeaseRules.renew(lease.token, session: session, of: held[lease.meter], at: now)
                if let record = decision.record { held[lease.meter] = record }
                return decision.answer
            }
            state.held[zone] = held
            return renewals
        }
    }
}

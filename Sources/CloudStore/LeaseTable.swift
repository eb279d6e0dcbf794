import Cloud
import Domain
import Synchronization

struct LeaseKey: Hashable, Sendable {
    /// Row id of the zone.
    var zone: Int64
    var meter: String
}

/// Held leases and the aliases of their meters, in memory, so that renewals and lists need no disk.
///
/// While a transaction decides a lease, the lease is reserved: its renewals wait in the writers' queue. Otherwise this
/// table could renew a lease that the transaction gives away.
final class LeaseTable: Sendable {
    private struct State {
        var held: [Int64: HeldLeases] = [:]
        var reserved: Set<LeaseKey> = []
        var aliases: [Int64: AliasBook] = [:]
    }

    private let state = Mutex(State())

    func load(_ key: LeaseKey, _ record: LeaseRecord) {
        state.withLock { $0.held[key.zone, default: HeldLeases()][key.meter] = record }
    }

    func load(_ aliases: [Int64: AliasBook]) { state.withLock { $0.aliases = aliases } }

    func aliases(in zone: Int64) -> AliasBook { state.withLock { $0.aliases[zone] ?? AliasBook() } }

    var heldCount: Int { state.withLock { $0.held.values.reduce(0) { $0 + $1.count } } }

    /// Returns the meter's held lease, looked up by any of its ids.
    func held(_ key: LeaseKey) -> LeaseSnapshot? {
        state.withLock { state in
            let book = state.aliases[key.zone] ?? AliasBook()
            guard let record = state.held[key.zone]?[book.canonical(key.meter)] else { return nil }
            // Readers do not need any former lease that is stored under the alias.
            var standing = book.standing(of: key.meter) { _ in nil }
            standing.record = record
            return standing
        }
    }

    /// Returns held leases, sorted by meter.
    func held(in zone: Int64) -> [(meter: String, record: LeaseRecord)] {
        state.withLock { $0.held[zone]?.all ?? [] }.sorted { $0.meter < $1.meter }
    }

    func reserve(_ key: LeaseKey) -> LeaseRecord? {
        state.withLock { state in
            state.reserved.insert(key)
            return state.held[key.zone]?[key.meter]
        }
    }

    /// Ends the reservations of a transaction.
    ///
    /// - Parameters:
    ///   - leases: leases after the transaction; empty if it failed.
    ///   - aliases: new aliases, by row id of their zone; empty if unchanged.
    func settle(_ leases: [LeaseKey: LeaseRecord], aliases: [Int64: AliasBook] = [:]) {
        state.withLock { state in
            state.aliases.merge(aliases) { $1 }
            for (key, record) in leases {
                state.held[key.zone, default: HeldLeases()][key.meter] = record
            }
            state.reserved.removeAll(keepingCapacity: state.reserved.count < 1000)
        }
    }

    /// Renews leases in memory. Nil if a lease is reserved or not held, so that the writers' queue must decide.
    func renew(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: Int64, under policy: LeasePolicy,
        at now: MonotonicTime
    ) -> [LeaseRenewal]? {
        state.withLock { state in
            guard let index = state.held.index(forKey: zone) else { return leases.isEmpty ? [] : nil }
            var renewals: [LeaseRenewal] = []
            renewals.reserveCapacity(leases.count)
            let book = state.aliases[zone]
            for lease in leases {
                let meter = book?.canonical(lease.meter) ?? lease.meter
                let isReserved = !state.reserved.isEmpty && state.reserved.contains(LeaseKey(zone: zone, meter: meter))
                // The writers' queue then decides the whole call. Renewing the previous leases again is harmless.
                guard !isReserved, let record = state.held.values[index][meter] else { return nil }
                var standing = LeaseSnapshot(meter: meter, record: record)
                if let book, meter != lease.meter { standing = book.standing(of: lease.meter) { _ in nil } }
                standing.record = record
                let decision = LeaseRules.renew(
                    lease.token, session: session, of: standing, under: policy, at: now)
                if let renewed = decision.record { state.held.values[index][meter] = renewed }
                renewals.append(decision.answer)
            }
            return renewals
        }
    }
}

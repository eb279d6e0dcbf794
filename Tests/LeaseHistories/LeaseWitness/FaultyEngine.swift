package import Cloud
package import CloudAPI
package import LeaseCore
import LinuxIO
package import MeterModel
import MeterTestKit
package import SettingsCore
import Synchronization

/// What an engine could do wrong, each against one rule of the leases.
package enum PlantedFault: String, CaseIterable, Sendable {
    /// Answers, and does not keep, one decision in five.
    case forgetsDecisions
    /// Decides by what the lease was one change earlier, as a read outside the transaction would.
    case decidesByOldState
    /// Lets a lease run out 20 s too early.
    case expiresEarly
    /// Renews what another host has.
    case renewsForOthers
    /// Takes its own calendar for the one that a lease's holder was granted it by.
    case goesByTheCalendar
    /// Answers, and does not keep, one change of a record in five.
    case forgetsRecords
    /// Forgets which requests it granted, and decides one that is repeated anew.
    case decidesAnew
    /// Goes on with the policy that a zone had at first.
    case ignoresPolicy
    /// Takes every change token for one of the store as it is, also after that went back.
    case forgetsTimeline

    /// Those that a history of leases shows at any speed of the clock.
    package static let ofLeases: [PlantedFault] = [
        .forgetsDecisions, .decidesByOldState, .expiresEarly, .renewsForOthers, .decidesAnew,
    ]
}

/// A good engine with a fault before it, which a check of histories has to find.
package struct FaultyEngine: ForwardingEngine {
    package let base: any CloudEngine
    /// nil: none.
    package let fault: PlantedFault?
    private let memory = Memory()

    package init(_ base: any CloudEngine, fault: PlantedFault?) {
        self.base = base
        self.fault = fault
    }

    private final class Memory: Sendable {
        let calls = Atomic<UInt64>(0)
        /// By meter, the lease before its last change.
        let before = Mutex<[String: LeaseRecord?]>([:])
        /// By zone, the policy at first.
        let policies = Mutex<[String: LeasePolicy]>([:])
    }

    package func decideLease<Answer: Sendable>(
        of meter: String, in zone: String,
        _ rule: @escaping @Sendable (LeaseStanding) -> LeaseDecision<Answer>
    ) async throws -> Answer {
        let strikes = memory.calls.wrappingAdd(1, ordering: .relaxed).newValue % 5 == 0
        return try await base.decideLease(of: meter, in: zone) { [memory, fault] lease in
            let record = lease.record
            var other = lease
            switch fault {
            case nil, .renewsForOthers, .forgetsRecords, .ignoresPolicy, .forgetsTimeline: return rule(lease)
            case .decidesAnew:
                other.record = record.map {
                    LeaseRecord(
                        state: $0.state, token: $0.token, terms: $0.terms, renewedAt: $0.renewedAt, grants: [])
                }
                return rule(other)
            case .forgetsDecisions:
                let decision = rule(lease)
                return strikes ? LeaseDecision(record: nil, answer: decision.answer) : decision
            case .decidesByOldState:
                let before = memory.before.withLock { $0["\(zone) \(meter)"] ?? record }
                other.record = strikes ? before : record
                let decision = rule(other)
                if decision.record != nil { memory.before.withLock { $0["\(zone) \(meter)"] = .some(record) } }
                return decision
            case .expiresEarly:
                other.record?.renewedAt = (record?.renewedAt ?? .origin) + .seconds(-20)
                return rule(other)
            case .goesByTheCalendar:
                if let acquiredAt = record?.holder?.acquiredAt {
                    let age = LinuxClock.wallNow.millisecondsSince1970 - acquiredAt.millisecondsSince1970
                    other.record?.renewedAt = LinuxClock.now + .milliseconds(-age)
                }
                return rule(other)
            }
        }
    }

    package func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy,
        at now: MonotonicTime
    ) async throws -> [LeaseRenewal] {
        let renewals = try await base.renewLeases(leases, session: session, in: zone, under: policy, at: now)
        guard fault == .renewsForOthers else { return renewals }
        return renewals.map { renewal in
            if case .lost(_, let record?) = renewal { .renewed(record) } else { renewal }
        }
    }

    package func zone(_ name: String) async throws -> Zone? {
        var zone = try await base.zone(name)
        if fault == .ignoresPolicy, let terms = zone?.terms {
            let policy = memory.policies.withLock { policies in
                defer { policies[name] = policies[name] ?? terms.policy }
                return policies[name] ?? terms.policy
            }
            zone?.terms = LeaseTerms(timeToLive: terms.timeToLive, lockDelay: terms.lockDelay, policy: policy)
        }
        return zone
    }

    package func changes(
        of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int
    ) async throws -> ChangeList {
        guard fault == .forgetsTimeline, let token, let sequence = try await base.zone(zone)?.sequence else {
            return try await base.changes(of: type, in: zone, after: token, limit: limit)
        }
        // As a token without an origin, of a version without timelines.
        let known = ChangeToken(
            epoch: token.epoch, sequence: min(token.sequence, sequence), key: token.key, floor: token.floor)
        return try await base.changes(of: type, in: zone, after: known, limit: limit)
    }

    package func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome] {
        let strikes = memory.calls.wrappingAdd(1, ordering: .relaxed).newValue % 5 == 0
        guard fault != .forgetsRecords || !strikes else {
            return records.map { RecordOutcome(fate: .unchanged, record: $0) }
        }
        return try await base.modify(records, in: zone, now: now, leaseTime: leaseTime)
    }
}

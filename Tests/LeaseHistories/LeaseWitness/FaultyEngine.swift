package import Cloud
package import CloudAPI
package import LeaseCore
import LinuxIO
package import MeterModel
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
package struct FaultyEngine: CloudEngine {
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
}

/// Everything else is the base's.
extension FaultyEngine {
    package var epoch: String { get async throws { try await base.epoch } }

    package func probe(writes: Bool) async throws { try await base.probe(writes: writes) }

    package func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone {
        try await base.createZone(name, id: id, terms: terms)
    }
    package func zones() async throws -> [Zone] { try await base.zones() }
    package func setTerms(_ terms: LeaseTerms, of zone: String) async throws {
        try await base.setTerms(terms, of: zone)
    }
    package func setQuota(_ quota: ZoneQuota, of zone: String) async throws {
        try await base.setQuota(quota, of: zone)
    }
    package func usage(of zone: String) async throws -> ZoneUsage { try await base.usage(of: zone) }
    package func leaseCount(of zone: String) async throws -> Int { try await base.leaseCount(of: zone) }
    package func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String] {
        try await base.add(credential, showing: shown)
    }
    package func noteUse(of credential: String) async throws -> Credential? {
        try await base.noteUse(of: credential)
    }
    package func bind(_ binding: Credential.Binding, to credential: String) async throws {
        try await base.bind(binding, to: credential)
    }
    package func credential(hash: [UInt8]) async throws -> Credential? { try await base.credential(hash: hash) }
    package func credentials(in zone: String?) async throws -> [Credential] { try await base.credentials(in: zone) }
    package func revoke(credential id: String, at now: WallTime) async throws -> Bool {
        try await base.revoke(credential: id, at: now)
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
    package func record(_ key: RecordKey, in zone: String) async throws -> SyncRecord? {
        try await base.record(key, in: zone)
    }
    package func records(in zone: String, type: RecordType?) async throws -> [SyncRecord] {
        try await base.records(in: zone, type: type)
    }
    package func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int {
        try await base.purgeTombstones(before: time, dating: dating)
    }
    package var believedDate: WallTime? { get async throws { try await base.believedDate } }
    package func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool {
        try await base.setBelievedDate(date, replacing: known)
    }
    package func newestStamp() async throws -> WallTime? { try await base.newestStamp() }
    package func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await base.leases(in: zone)
    }
    package func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await base.heldLeases(in: zone)
    }
    package func standing(of meter: String, in zone: String) async throws -> LeaseStanding {
        try await base.standing(of: meter, in: zone)
    }
    package func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits { try await base.leaseLimits(at: now) }
    package func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer {
        try await base.decideCommand(id, under: meter, in: zone, rule)
    }
    package func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts {
        try await base.commandCounts(of: author, in: zone)
    }
    package func commandMarks() async throws -> [CommandMark] { try await base.commandMarks() }
    package func forget(_ commands: [CommandMark]) async throws { try await base.forget(commands) }
    package func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState {
        try await base.changeQueue(at: place, change)
    }
    package func queues() async throws -> QueueSnapshot { try await base.queues() }
    package func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) async throws -> Heartbeats {
        try await base.heartbeat(of: copy, isFirst: isFirst, address: address)
    }
    package func copiesKey(proposing key: String) async throws -> String {
        try await base.copiesKey(proposing: key)
    }
    package func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool {
        try await base.giveUp(copy, seen: mark)
    }
}

package import Cloud
package import CloudAPI
package import Domain
import LinuxIO
import MeterTestKit
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
    /// Keeps commands and their outcomes for one copy of the cloud, not for all.
    case keepsCommandsByCopy
    /// Forgets a command once the meter has changed hands.
    case forgetsCommandsOfOthers
    /// Counts the commands of all zones against each one's share.
    case sharesOnePool
    /// Walks over all commands for each new one.
    case walksOverCommands
    /// Has no limit of leases.
    case ignoresLeaseLimit
    /// Refuses leases that exist, too, once the zone has no room for another one.
    case refusesKnownLeases
    /// Revokes the token of a host whose id and machine somebody else names.
    case replacesAnyToken

    /// Those that a history of leases shows at any speed of the clock.
    package static let ofLeases: [PlantedFault] = [
        .forgetsDecisions, .decidesByOldState, .expiresEarly, .renewsForOthers, .decidesAnew,
    ]
    /// Those that hosts show which attack, each with words of the complaints about it.
    package static let ofAttacks: [(fault: PlantedFault, complaints: [String])] = [
        (.keepsCommandsByCopy, ["the command"]), (.forgetsCommandsOfOthers, ["heard that it was not"]),
        (.ignoresLeaseLimit, ["of at most"]),
        // An acquire, or a release.
        (.refusesKnownLeases, ["refused for want of room", "so no lease is left for"]),
        // An enrolment, or what a host hears whose token was replaced.
        (.replacesAnyToken, ["enrolled as", "was revoked"]),
    ]
    /// Those that a flood of commands shows.
    package static let ofFloods: [PlantedFault] = [.sharesOnePool, .walksOverCommands]
}

/// A good engine with a fault before it, which a check of histories has to find.
package struct FaultyEngine: ForwardingEngine {
    package let base: any CloudEngine
    /// nil: none.
    package let fault: PlantedFault?
    private let memory: Memory

    /// - Parameter walkTime: of each command, where all are walked over.
    package init(_ base: any CloudEngine, fault: PlantedFault?, walkTime: Duration = .microseconds(10)) {
        self.base = base
        self.fault = fault
        memory = Memory(walkTime)
    }

    private final class Memory: Sendable {
        let calls = Atomic<UInt64>(0)
        /// By meter, the lease before its last change.
        let before = Mutex<[String: LeaseRecord?]>([:])
        /// By zone, the policy at first.
        let policies = Mutex<[String: LeasePolicy]>([:])
        /// By zone and id.
        let commands = Mutex<[String: StoredCommand]>([:])
        let walker: Walker

        init(_ walkTime: Duration) { walker = Walker(walkTime) }
    }

    /// Walks over all commands, one walk after the other, as under a lock.
    private actor Walker {
        private let stepTime: Duration
        /// Beyond, one costs nothing, so that the line is served soon after the flood.
        private static let longest = 350
        private var last: Task<Void, Never>?
        private var waiting = 0

        init(_ stepTime: Duration) { self.stepTime = stepTime }

        func walk(over count: Int) async {
            waiting += 1
            let time = waiting > Self.longest ? .zero : stepTime * count
            let task = Task { [last] in
                await last?.value
                try? await Task.sleep(for: time)
            }
            last = task
            await task.value
            waiting -= 1
        }
    }

    package func decideLease<Answer: Sendable>(
        of meter: String, in zone: String,
        _ rule: @escaping @Sendable (LeaseSnapshot) -> LeaseDecision<Answer>
    ) async throws -> Answer {
        let strikes = memory.calls.wrappingAdd(1, ordering: .relaxed).newValue % 5 == 0
        if fault == .refusesKnownLeases { try await refuseWithoutRoom(meter, in: zone) }
        return try await base.decideLease(of: meter, in: zone) { [memory, fault] lease in
            let record = lease.record
            var other = lease
            switch fault {
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
            default: return rule(lease)
            }
        }
    }

    private func refuseWithoutRoom(_ meter: String, in zone: String) async throws {
        var usage = LeaseUsage()
        for _ in try await base.leases(in: zone) { usage.add(by: nil) }
        guard let quota = try await base.zone(zone)?.quota else { return }
        if let refusal = usage.refusal(of: nil, creating: meter, in: zone, under: quota) { throw refusal }
    }

    package func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer {
        switch fault {
        case .keepsCommandsByCopy:
            return try await base.decideCommand(id, under: meter, in: zone) { [memory] _, lease in
                memory.commands.withLock { commands in
                    let decision = rule(commands["\(zone) \(id)"], lease)
                    if let command = decision.command { commands["\(zone) \(id)"] = command }
                    return CommandDecision(decision.answer)
                }
            }
        case .forgetsCommandsOfOthers:
            let isPast = try await isPast(id, in: zone)
            return try await base.decideCommand(id, under: meter, in: zone) { rule(isPast ? nil : $0, $1) }
        default: return try await base.decideCommand(id, under: meter, in: zone, rule)
        }
    }

    /// Whether the stored command is of a lease that is over.
    private func isPast(_ id: RequestID, in zone: String) async throws -> Bool {
        let stored = try await base.decideCommand(id, under: nil, in: zone) { stored, _ in CommandDecision(stored) }
        guard let wish = stored?.wish else { return false }
        return try await base.standing(of: wish.meter, in: zone).record?.token.rawValue != wish.token
    }

    package func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts {
        var counts = try await base.commandCounts(of: author, in: zone)
        guard fault == .sharesOnePool || fault == .walksOverCommands else { return counts }
        var all = 0
        for zone in try await base.zones() { all += try await base.commandCounts(of: author, in: zone.name).zone }
        if fault == .sharesOnePool { counts.zone = all } else { await memory.walker.walk(over: all) }
        return counts
    }

    package func setQuota(_ quota: ZoneQuota, of zone: String) async throws {
        var quota = quota
        if fault == .ignoresLeaseLimit { quota.leases = nil }
        try await base.setQuota(quota, of: zone)
    }

    package func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String] {
        guard fault == .replacesAnyToken, credential.unusedFrom != nil, let host = credential.binding?.host else {
            return try await base.add(credential, showing: shown)
        }
        var replaced: [String] = []
        for other in try await base.credentials(in: credential.zone)
        where other.kind == .host && other.binding?.host == host && other.revokedAt == nil {
            _ = try await base.revoke(credential: other.id, at: credential.createdAt)
            replaced.append(other.id)
        }
        return try await base.add(credential, showing: shown) + replaced
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

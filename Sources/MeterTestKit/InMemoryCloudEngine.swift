package import Cloud
package import CloudAPI
internal import CoreTestKit
package import LeaseCore
package import MeterModel
package import SettingsCore
import Synchronization

/// An engine that keeps everything in memory. Each call is one step under one lock.
package final class InMemoryCloudEngine: CloudEngine {
    struct StoredRecord {
        var record: SyncRecord
        var sequence: UInt64
        var tombstoneTime: WallTime?
    }

    struct StoredZone {
        var zone: Zone
        var floor: UInt64 = 0
        /// The marks of its timeline, by number.
        var marks: [TimelineMark] = []
        /// Whether this run has written one of them.
        var isMarked = false
        /// The greatest milliseconds of any stamp accepted so far.
        var accepted: UInt64 = 0
        var usage = ZoneUsage()
        var records: [RecordKey: StoredRecord] = [:]
        var leases: [String: LeaseRecord] = [:]
        var leaseUsage = LeaseUsage()
        var aliases = AliasBook()
        var commands: [RequestID: (command: StoredCommand, mark: Int64)] = [:]
    }

    struct State {
        var zones: [String: StoredZone] = [:]
        var credentials: [String: Credential] = [:]
        var limits = LeaseLimits(tokenFloor: FencingToken(rawValue: 0))
        var believedDate: WallTime?
        var failure: CloudFailure?
        var rng = SeededRNG(seed: 1)
        /// The last mark of a command.
        var commandMark: Int64 = 0
    }

    package let epoch: String
    private let state = Mutex(State())
    private let waiting = InMemoryQueues()

    package init(epoch: String = "memory") { self.epoch = epoch }

    /// Another run of the cloud, on what an earlier run had stored at one moment: a copy of its file, put back.
    ///
    /// - Parameter seed: must differ between runs.
    package init(copyOf other: InMemoryCloudEngine, seed: UInt64) {
        epoch = other.epoch
        var copy = other.state.withLock { $0 }
        copy.rng = SeededRNG(seed: seed)
        for name in copy.zones.keys { copy.zones[name]?.isMarked = false }
        state.withLock { $0 = copy }
    }

    /// Makes every call throw `failure` from now on; nil ends that.
    package func fail(with failure: CloudFailure?) { state.withLock { $0.failure = failure } }

    /// Sets the limits of leases, as after a restore.
    package func limit(_ limits: LeaseLimits) { state.withLock { $0.limits = limits } }

    /// Runs one step, which throws before it changes anything.
    private func step<Value>(_ body: (inout State) throws -> Value) throws -> Value {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            return try body(&state)
        }
    }

    private func step<Value>(in zone: String, _ body: (inout StoredZone) throws -> Value) throws -> Value {
        try step { state in
            guard let index = state.zones.index(forKey: zone) else { throw CloudFailure.zoneNotFound(zone) }
            return try body(&state.zones.values[index])
        }
    }
}

// MARK: - Zones and credentials

extension InMemoryCloudEngine {
    package func probe(writes: Bool) async throws { try step { _ in } }

    package func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone {
        try step { state in
            if let there = state.zones[name] { return there.zone }
            let zone = Zone(name: name, id: id ?? Zone.ID(using: &state.rng), terms: terms)
            state.zones[name] = StoredZone(zone: zone)
            return zone
        }
    }

    package func zones() async throws -> [Zone] {
        try step { $0.zones.values.map(\.zone).sorted { $0.name < $1.name } }
    }

    package func zone(_ name: String) async throws -> Zone? { try step { $0.zones[name]?.zone } }

    package func setTerms(_ terms: LeaseTerms, of zone: String) async throws {
        try step(in: zone) { $0.zone.terms = terms }
    }

    package func setQuota(_ quota: ZoneQuota, of zone: String) async throws {
        try step(in: zone) { $0.zone.quota = quota }
    }

    package func usage(of zone: String) async throws -> ZoneUsage { try step(in: zone) { $0.usage } }

    package func leaseCount(of zone: String) async throws -> Int { try step(in: zone) { $0.leaseUsage.total } }

    package func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String] {
        try step { state in
            guard state.zones[credential.zone] != nil else { throw CloudFailure.zoneNotFound(credential.zone) }
            guard !state.credentials.values.contains(where: { $0.id == credential.id || $0.hash == credential.hash })
            else { throw CloudFailure.credentialTaken(credential.id) }
            if let binding = credential.binding {
                _ = try credential.bound(to: binding, among: state.credentials(in: credential.zone))
            }
            let replaced = try credential.replaced(among: state.credentials(in: credential.zone), showing: shown)
            for other in replaced { state.credentials[other.id]?.revokedAt = credential.createdAt }
            state.credentials[credential.id] = credential
            return replaced.map(\.id)
        }
    }

    package func bind(_ binding: Credential.Binding, to credential: String) async throws {
        try step { state in
            guard let found = state.credentials[credential] else { throw CloudFailure.credentialNotFound(credential) }
            state.credentials[credential] = try found.bound(to: binding, among: state.credentials(in: found.zone))
        }
    }

    package func credential(hash: [UInt8]) async throws -> Credential? {
        try step { $0.credentials.values.first { $0.hash == hash } }
    }

    package func credentials(in zone: String?) async throws -> [Credential] {
        try step { $0.credentials(in: zone) }
    }

    package func noteUse(of credential: String) async throws -> Credential? {
        try step { state in
            if state.credentials[credential]?.revokedAt == nil { state.credentials[credential]?.unusedFrom = nil }
            return state.credentials[credential]
        }
    }

    package func revoke(credential id: String, at now: WallTime) async throws -> Bool {
        try step { state in
            guard var credential = state.credentials[id] else { return false }
            if credential.revokedAt == nil { credential.revokedAt = now }
            state.credentials[id] = credential
            return true
        }
    }
}

extension InMemoryCloudEngine.State {
    /// Sorted by zone, time and id.
    fileprivate func credentials(in zone: String?) -> [Credential] {
        credentials.values.filter { zone == nil || $0.zone == zone }
            .sorted { ($0.zone, $0.createdAt, $0.id) < ($1.zone, $1.createdAt, $1.id) }
    }
}

// MARK: - Records

extension InMemoryCloudEngine {
    package func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome] {
        try step { state in
            guard let index = state.zones.index(forKey: zone) else { throw CloudFailure.zoneNotFound(zone) }
            let before = state.zones.values[index].zone.sequence
            let outcomes = records.map { state.zones.values[index].merge($0, now: now, leaseTime: leaseTime) }
            state.zones.values[index].mark(changesAfter: before, &state.rng)
            return outcomes
        }
    }

    package func changes(
        of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int
    ) async throws -> ChangeList {
        let epoch = epoch
        return try step(in: zone) { zone in
            let feed = FeedState(
                zone: zone.zone.id, epoch: epoch, floor: zone.floor, sequence: zone.zone.sequence,
                mark: zone.marks.last)
            try feed.check(token, marks: zone.marks)
            let news = zone.records.values
                .filter { $0.record.key.type == type && $0.sequence > token?.sequence ?? 0 }
                .sorted { $0.sequence < $1.sequence }
            let page = news.prefix(limit)
            let moreComing = news.count > page.count
            return ChangeList(
                records: page.map(\.record),
                token: feed.token(after: token, last: page.last?.sequence, moreComing: moreComing),
                moreComing: moreComing, zoneID: feed.zone)
        }
    }

    package func record(_ key: RecordKey, in zone: String) async throws -> SyncRecord? {
        try step(in: zone) { $0.records[key]?.record }
    }

    package func records(in zone: String, type: RecordType?) async throws -> [SyncRecord] {
        try step(in: zone) { zone in
            zone.records.values.map(\.record).filter { type == nil || $0.key.type == type }
                .sorted { ($0.key.type.rawValue, $0.key.name) < ($1.key.type.rawValue, $1.key.name) }
        }
    }

    package func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int {
        try step { state in
            var count = 0
            for name in state.zones.keys {
                state.zones[name]?.dateTombstones(dating)
                count += state.zones[name]?.purgeTombstones(before: time) ?? 0
            }
            return count
        }
    }

    package var believedDate: WallTime? { get async throws { try step { $0.believedDate } } }

    package func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool {
        try step { state in
            guard state.believedDate == known else { return false }
            state.believedDate = date
            return true
        }
    }

    package func newestStamp() async throws -> WallTime? {
        try step { state in
            let newest = state.zones.values.map(\.accepted).max() ?? 0
            return newest > 0 ? WallTime(millisecondsSince1970: Int64(clamping: newest)) : nil
        }
    }
}

extension InMemoryCloudEngine.StoredZone {
    fileprivate mutating func merge(_ record: SyncRecord, now: WallTime, leaseTime: MonotonicTime) -> RecordOutcome {
        let stored = records[record.key]?.record
        let intake = RecordIntake.decide(
            record, onto: stored, now: now, accepted: accepted, usage: usage, quota: zone.quota)
        switch intake {
        case .unchanged: return RecordOutcome(fate: .unchanged, record: stored)
        case .clockSkew: return RecordOutcome(fate: .clockSkew, record: stored)
        case .tooManyProperties: return RecordOutcome(fate: .tooManyProperties, record: stored)
        case .quotaExceeded(let excess): return RecordOutcome(fate: .quotaExceeded(excess), record: stored)
        case .changed(let merged, let change):
            if let refusal = follow(merged, at: leaseTime) { return RecordOutcome(fate: refusal, record: stored) }
            zone.sequence += 1
            usage.add(change)
            accepted = max(accepted, RecordIntake.newestMilliseconds(of: merged))
            records[record.key] = InMemoryCloudEngine.StoredRecord(
                record: merged, sequence: zone.sequence,
                tombstoneTime: RecordIntake.tombstoneTime(of: merged))
            return RecordOutcome(fate: .changed(sequence: zone.sequence), record: merged)
        }
    }

    /// Puts an alias into force.
    ///
    /// - Returns: the reason if it is refused.
    private mutating func follow(_ record: SyncRecord, at leaseTime: MonotonicTime) -> RecordOutcome.Fate? {
        guard let change = aliases.change(with: record) else { return nil }
        switch change.decide(leases.filter { change.meters.contains($0.key) }, at: leaseTime) {
        case .held(let meter, let holder): return .leaseHeld(meter: meter, by: holder)
        case .tooMany: return .tooManyAliases
        case .accepted(let book, let freed):
            aliases = book
            leases.merge(freed) { $1 }
            return nil
        }
    }

    /// The lease that a request under one of the meter's ids concerns.
    fileprivate func standing(of meter: String) -> LeaseStanding { aliases.standing(of: meter) { leases[$0] } }

    fileprivate mutating func countLease(of meter: String, for host: HostID?) throws {
        if let refusal = leaseUsage.refusal(of: host, creating: meter, in: zone.name, under: zone.quota) {
            throw refusal
        }
        leaseUsage.add(by: host)
    }

    /// Writes a mark for the first changes of a run.
    fileprivate mutating func mark(changesAfter sequence: UInt64, _ rng: inout SeededRNG) {
        guard zone.sequence > sequence, !isMarked else { return }
        isMarked = true
        marks.append(TimelineMark(after: marks.last, at: sequence, id: rng.next()))
    }

    fileprivate mutating func dateTombstones(_ date: WallTime) {
        for key in records.keys where records[key]?.tombstoneTime == RecordIntake.undated {
            records[key]?.tombstoneTime = date
        }
    }

    fileprivate mutating func purgeTombstones(before time: WallTime) -> Int {
        let old = records.filter { $0.value.tombstoneTime.map { $0 < time } ?? false }
        for (key, stored) in old {
            floor = max(floor, stored.sequence)
            usage.add(.change(from: stored.record, to: nil))
            records[key] = nil
        }
        marks.removeFirst(TimelineMark.outdated(marks, floor: floor).count)
        return old.count
    }
}

// MARK: - Leases

extension InMemoryCloudEngine {
    package func decideLease<Answer: Sendable>(
        of meter: String, in zone: String,
        _ rule: @escaping @Sendable (LeaseStanding) -> LeaseDecision<Answer>
    ) async throws -> Answer {
        try step(in: zone) { zone in
            let lease = zone.standing(of: meter)
            let decision = rule(lease)
            if let record = decision.record {
                if lease.record == nil { try zone.countLease(of: lease.meter, for: record.holder?.host) }
                zone.leases[lease.meter] = record
            }
            return decision.answer
        }
    }

    package func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy,
        at now: MonotonicTime
    ) async throws -> [LeaseRenewal] {
        try step(in: zone) { zone in
            leases.map { lease in
                let standing = zone.standing(of: lease.meter)
                let decision = LeaseRules.renew(
                    lease.token, session: session, of: standing, under: policy, at: now)
                if let record = decision.record { zone.leases[standing.meter] = record }
                return decision.answer
            }
        }
    }

    package func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try step(in: zone) { zone in
            zone.leases.sorted { $0.key < $1.key }.map { (meter: $0.key, record: $0.value) }
        }
    }

    package func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await leases(in: zone).filter { $0.record.holder != nil }
    }

    package func standing(of meter: String, in zone: String) async throws -> LeaseStanding {
        try step(in: zone) { $0.standing(of: meter) }
    }

    package func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits {
        try step { state in
            if let end = state.limits.grantsNothingNewBefore, end <= now { state.limits.grantsNothingNewBefore = nil }
            return state.limits
        }
    }
}

// MARK: - Commands

extension InMemoryCloudEngine {
    package func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer {
        try step { state in
            guard let stored = state.zones[zone] else { throw CloudFailure.zoneNotFound(zone) }
            let decision = rule(stored.commands[id]?.command, meter.flatMap { stored.leases[$0] })
            guard let command = decision.command else { return decision.answer }
            state.commandMark += 1
            state.zones[zone]?.commands[id] = (command, state.commandMark)
            return decision.answer
        }
    }

    package func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts {
        try step(in: zone) { zone in
            let authors = zone.commands.values.map(\.command.wish.author)
            return CommandCounts(host: authors.count { $0 == author.description }, zone: authors.count)
        }
    }

    package func commandMarks() async throws -> [CommandMark] {
        try step { state in
            state.zones.flatMap { name, zone in
                zone.commands.map { id, stored in
                    CommandMark(zone: name, requestID: id, author: stored.command.wish.author, mark: stored.mark)
                }
            }
        }
    }

    package func forget(_ commands: [CommandMark]) async throws {
        try step { state in
            for seen in commands where state.zones[seen.zone]?.commands[seen.requestID]?.mark == seen.mark {
                state.zones[seen.zone]?.commands[seen.requestID] = nil
            }
        }
    }
}

// MARK: - Lease queues

extension InMemoryCloudEngine {
    package func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState {
        try step(in: place.zone) { _ in waiting.change(place, change) }
    }

    package func queues() async throws -> QueueSnapshot { try step { _ in waiting.reading } }

    package func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) async throws -> Heartbeats {
        try step { _ in waiting.heartbeat(of: copy, isFirst: isFirst, address: address) }
    }

    package func copiesKey(proposing key: String) async throws -> String {
        try step { _ in waiting.copiesKey(proposing: key) }
    }

    package func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool {
        try step { _ in waiting.giveUp(copy, seen: mark) }
    }
}

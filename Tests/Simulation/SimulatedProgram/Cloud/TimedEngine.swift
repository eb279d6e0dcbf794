import Cloud
import CloudAPI
import LeaseCore
import MeterModel
import SettingsCore
import SimulatedCloud

/// A real engine whose calls take their time, so that others come in between and the cloud may be killed before a call and
/// after it. What it decides is told to the judge at once.
struct TimedEngine: CloudEngine {
    private let base: any CloudEngine
    private let life: Life

    init(_ base: any CloudEngine, in life: Life) {
        self.base = base
        self.life = life
    }

    /// A call that has to wait for the disk.
    private func write<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await pass(upTo: 6000)
        let value = try await life.world.thread.foreign(body)
        try await pass(upTo: 6000)
        return value
    }

    private func read<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await pass(upTo: 800)
        return try await life.world.thread.foreign(body)
    }

    /// - Parameter longest: in microseconds.
    private func pass(upTo longest: Int) async throws {
        let world = life.world
        try await life.sleep(until: world.now + TrueTime(world.rng.number(below: longest)))
    }

    // MARK: What is judged

    func decideLease<Answer: Sendable>(
        of meter: String, in zone: String, _ rule: @escaping @Sendable (LeaseStanding) -> LeaseDecision<Answer>
    ) async throws -> Answer {
        try await write {
            let answer = try await base.decideLease(of: meter, in: zone, rule)
            let lease = try await base.standing(of: meter, in: zone)
            life.world.decided(lease.record, of: lease.meter)
            return answer
        }
    }

    func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome] {
        try await write {
            let outcomes = try await base.modify(records, in: zone, now: now, leaseTime: leaseTime)
            for (record, outcome) in zip(records, outcomes) { life.world.merged(record, outcome) }
            return outcomes
        }
    }

    // MARK: Everything else

    var epoch: String { get async throws { try await read { try await base.epoch } } }
    func probe(writes: Bool) async throws { try await read { try await base.probe(writes: writes) } }
    func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone {
        try await write { try await base.createZone(name, id: id, terms: terms) }
    }
    func zones() async throws -> [Zone] { try await read { try await base.zones() } }
    func zone(_ name: String) async throws -> Zone? { try await read { try await base.zone(name) } }
    func setTerms(_ terms: LeaseTerms, of zone: String) async throws {
        try await write { try await base.setTerms(terms, of: zone) }
    }
    func setQuota(_ quota: ZoneQuota, of zone: String) async throws {
        try await write { try await base.setQuota(quota, of: zone) }
    }
    func usage(of zone: String) async throws -> ZoneUsage { try await read { try await base.usage(of: zone) } }
    func leaseCount(of zone: String) async throws -> Int { try await read { try await base.leaseCount(of: zone) } }
    func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String] {
        try await write { try await base.add(credential, showing: shown) }
    }
    func noteUse(of credential: String) async throws -> Credential? {
        try await write { try await base.noteUse(of: credential) }
    }
    func bind(_ binding: Credential.Binding, to credential: String) async throws {
        try await write { try await base.bind(binding, to: credential) }
    }
    func credential(hash: [UInt8]) async throws -> Credential? {
        try await read { try await base.credential(hash: hash) }
    }
    func credentials(in zone: String?) async throws -> [Credential] {
        try await read { try await base.credentials(in: zone) }
    }
    func revoke(credential id: String, at now: WallTime) async throws -> Bool {
        try await write { try await base.revoke(credential: id, at: now) }
    }
    func changes(
        of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int
    ) async throws -> ChangeList {
        try await read { try await base.changes(of: type, in: zone, after: token, limit: limit) }
    }
    func record(_ key: RecordKey, in zone: String) async throws -> SyncRecord? {
        try await read { try await base.record(key, in: zone) }
    }
    func records(in zone: String, type: RecordType?) async throws -> [SyncRecord] {
        try await read { try await base.records(in: zone, type: type) }
    }
    func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int {
        try await write { try await base.purgeTombstones(before: time, dating: dating) }
    }
    var believedDate: WallTime? { get async throws { try await read { try await base.believedDate } } }
    func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool {
        try await write { try await base.setBelievedDate(date, replacing: known) }
    }
    func newestStamp() async throws -> WallTime? { try await read { try await base.newestStamp() } }
    func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy, at now: MonotonicTime
    ) async throws -> [LeaseRenewal] {
        try await write { try await base.renewLeases(leases, session: session, in: zone, under: policy, at: now) }
    }
    func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await read { try await base.leases(in: zone) }
    }
    func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await read { try await base.heldLeases(in: zone) }
    }
    func standing(of meter: String, in zone: String) async throws -> LeaseStanding {
        try await read { try await base.standing(of: meter, in: zone) }
    }
    func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits {
        try await read { try await base.leaseLimits(at: now) }
    }
    func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer {
        try await write { try await base.decideCommand(id, under: meter, in: zone, rule) }
    }
    func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts {
        try await read { try await base.commandCounts(of: author, in: zone) }
    }
    func commandMarks() async throws -> [CommandMark] { try await read { try await base.commandMarks() } }
    func forget(_ commands: [CommandMark]) async throws { try await write { try await base.forget(commands) } }
    func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState {
        try await read { try await base.changeQueue(at: place, change) }
    }
    func queues() async throws -> QueueSnapshot { try await read { try await base.queues() } }
    func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) async throws -> Heartbeats {
        try await read { try await base.heartbeat(of: copy, isFirst: isFirst, address: address) }
    }
    func copiesKey(proposing key: String) async throws -> String {
        try await read { try await base.copiesKey(proposing: key) }
    }
    func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool {
        try await read { try await base.giveUp(copy, seen: mark) }
    }
}

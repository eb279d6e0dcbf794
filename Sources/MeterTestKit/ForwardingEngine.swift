package import Cloud
package import CloudAPI
package import Domain

/// An engine that forwards every call that it does not implement to another engine.
package protocol ForwardingEngine: CloudEngine {
    var base: any CloudEngine { get }

    /// - Parameter writes: whether the call waits for the disk.
    func pass<Value: Sendable>(writes: Bool, _ call: () async throws -> Value) async throws -> Value
}

extension ForwardingEngine {
    package func pass<Value: Sendable>(writes: Bool, _ call: () async throws -> Value) async throws -> Value {
        try await call()
    }

    package var epoch: String { get async throws { try await pass(writes: false) { try await base.epoch } } }
    package func probe(writes: Bool) async throws {
        try await pass(writes: false) { try await base.probe(writes: writes) }
    }
    package func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone {
        try await pass(writes: true) { try await base.createZone(name, id: id, terms: terms) }
    }
    package func zones() async throws -> [Zone] { try await pass(writes: false) { try await base.zones() } }
    package func zone(_ name: String) async throws -> Zone? {
        try await pass(writes: false) { try await base.zone(name) }
    }
    package func setTerms(_ terms: LeaseTerms, of zone: String) async throws {
        try await pass(writes: true) { try await base.setTerms(terms, of: zone) }
    }
    package func setQuota(_ quota: ZoneQuota, of zone: String) async throws {
        try await pass(writes: true) { try await base.setQuota(quota, of: zone) }
    }
    package func usage(of zone: String) async throws -> ZoneUsage {
        try await pass(writes: false) { try await base.usage(of: zone) }
    }
    package func leaseCount(of zone: String) async throws -> Int {
        try await pass(writes: false) { try await base.leaseCount(of: zone) }
    }
    package func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String] {
        try await pass(writes: true) { try await base.add(credential, showing: shown) }
    }
    package func noteUse(of credential: String) async throws -> Credential? {
        try await pass(writes: true) { try await base.noteUse(of: credential) }
    }
    package func bind(_ binding: Credential.Binding, to credential: String) async throws {
        try await pass(writes: true) { try await base.bind(binding, to: credential) }
    }
    package func credential(hash: [UInt8]) async throws -> Credential? {
        try await pass(writes: false) { try await base.credential(hash: hash) }
    }
    package func credentials(in zone: String?) async throws -> [Credential] {
        try await pass(writes: false) { try await base.credentials(in: zone) }
    }
    package func revoke(credential id: String, at now: WallTime) async throws -> Bool {
        try await pass(writes: true) { try await base.revoke(credential: id, at: now) }
    }

    package func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome] {
        try await pass(writes: true) { try await base.modify(records, in: zone, now: now, leaseTime: leaseTime) }
    }
    package func changes(
        of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int
    ) async throws -> ChangeList {
        try await pass(writes: false) { try await base.changes(of: type, in: zone, after: token, limit: limit) }
    }
    package func record(_ key: RecordKey, in zone: String) async throws -> SyncRecord? {
        try await pass(writes: false) { try await base.record(key, in: zone) }
    }
    package func records(in zone: String, type: RecordType?) async throws -> [SyncRecord] {
        try await pass(writes: false) { try await base.records(in: zone, type: type) }
    }
    package func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int {
        try await pass(writes: true) { try await base.purgeTombstones(before: time, dating: dating) }
    }
    package var believedDate: WallTime? {
        get async throws { try await pass(writes: false) { try await base.believedDate } }
    }
    package func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool {
        try await pass(writes: true) { try await base.setBelievedDate(date, replacing: known) }
    }
    package func newestStamp() async throws -> WallTime? {
        try await pass(writes: false) { try await base.newestStamp() }
    }

    package func decideLease<Answer: Sendable>(
        of meter: String, in zone: String, _ rule: @escaping @Sendable (LeaseSnapshot) -> LeaseDecision<Answer>
    ) async throws -> Answer {
        try await pass(writes: true) { try await base.decideLease(of: meter, in: zone, rule) }
    }
    package func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy, at now: MonotonicTime
    ) async throws -> [LeaseRenewal] {
        try await pass(writes: true) {
            try await base.renewLeases(leases, session: session, in: zone, under: policy, at: now)
        }
    }
    package func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await pass(writes: false) { try await base.leases(in: zone) }
    }
    package func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await pass(writes: false) { try await base.heldLeases(in: zone) }
    }
    package func standing(of meter: String, in zone: String) async throws -> LeaseSnapshot {
        try await pass(writes: false) { try await base.standing(of: meter, in: zone) }
    }
    package func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits {
        try await pass(writes: false) { try await base.leaseLimits(at: now) }
    }

    package func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer {
        try await pass(writes: true) { try await base.decideCommand(id, under: meter, in: zone, rule) }
    }
    package func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts {
        try await pass(writes: false) { try await base.commandCounts(of: author, in: zone) }
    }
    package func commandMarks() async throws -> [CommandMark] {
        try await pass(writes: false) { try await base.commandMarks() }
    }
    package func forget(_ commands: [CommandMark]) async throws {
        try await pass(writes: true) { try await base.forget(commands) }
    }

    package func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState {
        try await pass(writes: false) { try await base.changeQueue(at: place, change) }
    }
    package func queues() async throws -> QueueSnapshot {
        try await pass(writes: false) { try await base.queues() }
    }
    package func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) async throws -> Heartbeats {
        try await pass(writes: false) { try await base.heartbeat(of: copy, isFirst: isFirst, address: address) }
    }
    package func copiesKey(proposing key: String) async throws -> String {
        try await pass(writes: false) { try await base.copiesKey(proposing: key) }
    }
    package func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool {
        try await pass(writes: false) { try await base.giveUp(copy, seen: mark) }
    }
}

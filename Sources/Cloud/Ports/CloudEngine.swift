package import CloudAPI
package import Domain

/// Storage of the cloud: SQLite or etcd, under one contract (`MeterTestKit/Contracts/CloudEngineContract`).
///
/// An engine stores changes and gives them an order. Within its atomic step, it calls the rules (`LeaseRules`,
/// `SyncRecord.merge`, `StampLimit`) that decide what is allowed. When a call returns, its change is durable, except
/// for renewals. A call that has begun is finished even if its task is cancelled.
///
/// Expected failures are thrown as a `CloudFailure`. Every call that names a missing zone throws `zoneNotFound`, except
/// calls that read credentials. A failing disk causes `serviceUnavailable`.
package protocol CloudEngine: Sendable {
    /// Epoch of the store, changed by every restore from a backup.
    var epoch: String { get async throws }

    /// Checks whether the store works, without visible effect.
    ///
    /// - Parameter writes: whether to test with a write, if only a write reveals a failure.
    func probe(writes: Bool) async throws

    // MARK: Zones and credentials

    /// Creates a zone, or returns an existing one unchanged.
    ///
    /// - Parameter id: nil for a random identity.
    func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone
    func zones() async throws -> [Zone]
    func zone(_ name: String) async throws -> Zone?
    /// Sets the terms of new leases. Existing leases keep theirs, except that a stricter policy applies from the next
    /// renewal.
    func setTerms(_ terms: LeaseTerms, of zone: String) async throws
    /// Sets the quota, which applies from the next change. Stored data is kept even if it exceeds the quota.
    func setQuota(_ quota: ZoneQuota, of zone: String) async throws
    /// Returns the usage, counted in the same step as each change of the records.
    func usage(of zone: String) async throws -> ZoneUsage
    /// Returns the number of leases that the zone ever had (`LeaseUsage`).
    func leaseCount(of zone: String) async throws -> Int
    /// Adds a credential. A credential obtained by enrolment replaces the host's other credentials in the same step
    /// (`Credential.replaced`), and revokes them as of its `createdAt`.
    ///
    /// - Parameter shown: hashes of other access tokens that the host sent.
    /// - Returns: ids of the replaced credentials.
    /// - Throws: `badRequest` if its id or hash is taken; the errors of `bind` and of `Credential.replaced`.
    @discardableResult
    func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String]
    /// Binds a credential to a host, once. A repeated binding to the same host and machine only updates the name.
    ///
    /// - Throws: `notFound`; `permissionDenied` if the credential is revoked, or bound to another host or machine;
    ///   `duplicateHost` if another machine has a valid credential of this zone with this host id.
    func bind(_ binding: Credential.Binding, to credential: String) async throws
    func credential(hash: [UInt8]) async throws -> Credential?
    func credentials(in zone: String?) async throws -> [Credential]
    /// Records the first use of a credential. Later, an enrolment replaces it only if the host also sends one of its
    /// own access tokens.
    ///
    /// - Returns: the credential afterwards, revoked or not; nil if there is none.
    func noteUse(of credential: String) async throws -> Credential?
    /// - Returns: whether the credential exists.
    func revoke(credential id: String, at now: WallTime) async throws -> Bool

    // MARK: Records

    /// Merges each record with the stored one, by `RecordIntake`, and gives each changed record the zone's next
    /// sequence. Refuses stamps beyond `StampLimit`, and records that exceed the quota. Each record is atomic; the
    /// batch need not be.
    ///
    /// A `MeterAlias` that changes the meaning of ids takes effect for leases in the same step, or is refused
    /// (`AliasChange`).
    ///
    /// - Parameter leaseTime: time that decides whether a lease is over. An earlier time only makes a lease end later.
    /// - Returns: outcomes in the order of the records.
    func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome]
    /// Returns the records of a type that changed after a change token, oldest change first. Each record appears once,
    /// at its newest change. A caller that fetches all pages receives every change acknowledged before the first page.
    ///
    /// A zone's first change in each run of the cloud also writes a mark (`TimelineMark`), in its own transaction. The
    /// marks reveal a store that was reset to an earlier state.
    ///
    /// - Throws: the errors of `FeedState.check`.
    func changes(of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int) async throws -> ChangeList
    func record(_ key: RecordKey, in zone: String) async throws -> SyncRecord?
    /// Returns the records, sorted by type and name, including tombstones.
    func records(in zone: String, type: RecordType?) async throws -> [SyncRecord]

    // MARK: Retention

    /// Gives the date `dating` to the tombstones added since the last call, then deletes those dated before `time`.
    /// Raises each zone's floor to the greatest deleted sequence. Ignores dates from hosts and from this machine's wall
    /// clock: either may be wrong.
    ///
    /// - Returns: number of tombstones deleted.
    func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int
    /// Date from which the ages of tombstones are computed (`BelievedDate`); nil if never stored.
    var believedDate: WallTime? { get async throws }
    /// - Parameter known: `believedDate` as the caller read it.
    /// - Returns: false, without a write, if another replica has changed it in the meantime.
    func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool
    /// Returns the latest date of any stored change stamp, in all zones; nil without records.
    func newestStamp() async throws -> WallTime?

    // MARK: Leases

    /// Follows the zone's aliases, reads the lease, lets the rule decide, and stores its result, in one atomic step.
    /// The rule may run several times: it must be short, have no side effects, and not call the engine.
    ///
    /// The same step counts each new lease for its host (`LeaseUsage`), and refuses it beyond the zone's limit.
    ///
    /// - Throws: `LeaseUsage.refusal`.
    func decideLease<Answer: Sendable>(
        of meter: String, in zone: String,
        _ rule: @escaping @Sendable (LeaseSnapshot) -> LeaseDecision<Answer>
    ) async throws -> Answer
    /// Renews a host's leases according to `LeaseRules`. A request may name a meter by any of its ids. Returns one result
    /// per request, in the same order. A renewal need not be durable: after a start every lease counts as just renewed.
    func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy,
        at now: MonotonicTime
    ) async throws -> [LeaseRenewal]
    /// Returns leases by meter, including free ones and those of ids that are aliases now.
    func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)]
    /// Returns held leases by meter. Hosts list them often, so an engine keeps them in memory.
    func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)]
    /// Returns the lease that a request refers to, under any id of the meter.
    func standing(of meter: String, in zone: String) async throws -> LeaseSnapshot
    /// Returns the limits on every lease decision of this engine (Docs/Leases.md#rule-5).
    ///
    /// - Parameter now: if a restore's ban on new leases has ended by this time, it is removed permanently.
    func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits

    // MARK: Commands

    /// Reads a stored command and a lease, lets the rule decide, and stores the resulting command, in one atomic step.
    /// The rule may run several times, so it must have no side effects.
    ///
    /// - Parameter meter: canonical id of the meter whose lease the rule needs; nil if none. Aliases are not followed.
    func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer
    func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts
    func commandMarks() async throws -> [CommandMark]
    /// Deletes commands, except those that changed after their marks were read.
    func forget(_ commands: [CommandMark]) async throws

    // MARK: Lease queues and replicas

    /// Changes one queue in one atomic step across all replicas. Never durable: queues may vanish with the last
    /// replica, and a waiting host queues again.
    ///
    /// - Parameter change: maps the present waiters to the new ones. May run several times, and must not call the
    ///   engine.
    func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState
    /// Returns all queues in all zones, as of one moment.
    func queues() async throws -> QueueSnapshot
    /// Sends the heartbeat of one replica, and returns those of the others.
    ///
    /// - Parameter isFirst: whether this is the replica's first attempt. At a later attempt, a missing earlier
    ///   heartbeat means that another replica gave this one up (`wasGivenUp`).
    func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) async throws -> Heartbeats
    /// Removes a replica's heartbeat. The replica detects this with its next heartbeat.
    ///
    /// - Parameter mark: the replica's last heartbeat, as read; 0 if there was none.
    /// - Returns: false if the replica has sent another heartbeat since, so it is alive.
    func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool
    /// Returns the shared secret of the replicas: the first one proposed.
    func copiesKey(proposing key: String) async throws -> String
}

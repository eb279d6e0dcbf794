package import CloudAPI
package import Domain

/// Where the cloud keeps its data: SQLite on one machine, or etcd. Both fulfil one contract
/// (`MeterTestKit/Contracts/CloudEngineContract`).
///
/// An engine stores and orders; the rules decide what is allowed (`LeaseRules`, `SyncRecord.merge`, `StampLimit`), which it
/// calls within its atomic step. Once a call has returned it is durable, except for renewals; once begun, it is
/// finished even if its task is cancelled. Expected failures are thrown as a `CloudFailure`: `zoneNotFound` by every
/// call that names a missing zone (except those that read one credential, or all), `serviceUnavailable` if the disk
/// fails.
package protocol CloudEngine: Sendable {
    /// The store's epoch, which every restore from a backup changes.
    var epoch: String { get async throws }

    /// Checks whether the store works. Has no visible effect.
    ///
    /// - Parameter writes: checks by an actual write, if only that tells.
    /// - Throws: why not, and what to do.
    func probe(writes: Bool) async throws

    // MARK: Zones and who may use them

    /// Creates a zone, or returns an existing one unchanged.
    ///
    /// - Parameter id: the identity of a new zone; nil for a random one.
    func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone
    func zones() async throws -> [Zone]
    func zone(_ name: String) async throws -> Zone?
    /// Existing leases keep their terms, except for a stricter policy, which comes with a renewal.
    func setTerms(_ terms: LeaseTerms, of zone: String) async throws
    /// Takes effect with the next change. What is there already stays, even if it exceeds the quota.
    func setQuota(_ quota: ZoneQuota, of zone: String) async throws
    /// What the zone's records use, counted in the same step as each change of them.
    func usage(of zone: String) async throws -> ZoneUsage
    /// How many leases the zone has had (`LeaseUsage`).
    func leaseCount(of zone: String) async throws -> Int
    /// Adds a credential. One that a host got by enrolling replaces the host's others in the same step
    /// (`Credential.replaced`), which are revoked as of its `createdAt`.
    ///
    /// - Parameter shown: hashes of tokens that the host showed besides.
    /// - Returns: the ids of those replaced.
    /// - Throws: `badRequest` if its id or hash is taken; the errors of `bind` if it is already bound; the errors of
    ///   `Credential.replaced`.
    @discardableResult
    func add(_ credential: Credential, showing shown: [[UInt8]]) async throws -> [String]
    /// Binds a host's credential to it, once; binding it again to the same host and machine only updates the name.
    ///
    /// - Throws: `notFound` if there is none with that id; `permissionDenied` if it is bound to another host or
    ///   machine, or revoked; `duplicateHost` if another machine has a credential of this zone, not revoked, with this
    ///   host id.
    func bind(_ binding: Credential.Binding, to credential: String) async throws
    func credential(hash: [UInt8]) async throws -> Credential?
    func credentials(in zone: String?) async throws -> [Credential]
    /// Notes the first use of a credential: from here on another enrolment does not replace it.
    ///
    /// - Returns: the credential afterwards, revoked or not; nil if there is none with that id.
    func noteUse(of credential: String) async throws -> Credential?
    /// - Returns: whether there is one with that id.
    func revoke(credential id: String, at now: WallTime) async throws -> Bool

    // MARK: Records

    /// Merges each record with the stored one, gives each changed one the zone's next sequence, and refuses stamps
    /// beyond `StampLimit` and records for which the zone has no room, all by `RecordIntake`. Each record is atomic;
    /// the batch need not be. Results are in the order of the records.
    ///
    /// A `MeterAlias` that changes what ids stand for takes effect for leases in the same step, or is refused
    /// (`AliasChange`).
    ///
    /// - Parameter leaseTime: the time that decides whether a lease is over, on the clock of all lease times. It may be
    ///   from before the call, which only makes a lease end later.
    func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome]
    /// Records of a type that changed after a token, oldest change first, each once at its newest place: reading on
    /// until nothing more comes misses no change acknowledged before it began, whatever is written meanwhile.
    ///
    /// The first change of a zone in each run of the cloud writes a mark in its own transaction (`TimelineMark`), so
    /// that a store that went back is detected.
    ///
    /// - Throws: the errors of `FeedState.check`: `anotherZone`, `changeTokenExpired`, and `timelineLost` for a token
    ///   from a future that this store does not have.
    func changes(of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int) async throws -> ChangeList
    func record(_ key: RecordKey, in zone: String) async throws -> SyncRecord?
    /// For the console: by type and name, including tombstones.
    func records(in zone: String, type: RecordType?) async throws -> [SyncRecord]

    // MARK: Retention

    /// Dates the tombstones that came since the last call, then deletes those dated before `time`, and raises each
    /// zone's floor to their greatest sequence. Dates from hosts and from this machine's calendar do not count: either
    /// may have been wrong.
    ///
    /// - Returns: number of tombstones deleted.
    func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int
    /// The date from which ages count back (`BelievedDate`), if ever stored.
    var believedDate: WallTime? { get async throws }
    /// Stores the date for all copies of this cloud.
    ///
    /// - Parameter known: its value when it was read.
    /// - Returns: false if another copy changed it in the meantime; then nothing is stored.
    func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool
    /// The greatest date of a stamp accepted by any zone, if there is one.
    func newestStamp() async throws -> WallTime?

    // MARK: Leases

    /// Follows the zone's aliases, reads the lease, lets the rule decide, and stores what it returns, in one atomic
    /// step. The rule may be called several times, so it must have no side effects. It runs where the engine writes, so
    /// it must be short and must not call the engine.
    ///
    /// What creates a lease is counted in the same step (`LeaseUsage`), for whom it is given to, and refused beyond the
    /// zone's limit. Nothing else is.
    ///
    /// - Parameter meter: any id of the meter.
    /// - Throws: `LeaseUsage.refusal`.
    func decideLease<Answer: Sendable>(
        of meter: String, in zone: String,
        _ rule: @escaping @Sendable (LeaseStanding) -> LeaseDecision<Answer>
    ) async throws -> Answer
    /// Renews all of a host's leases, by `LeaseRules`, each under any id of its meter, with one result each in the same
    /// order. Need not be durable: after a start every lease counts as renewed just then.
    func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy,
        at now: MonotonicTime
    ) async throws -> [LeaseRenewal]
    /// By meter, including free leases and those of ids that are aliases now.
    func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)]
    /// Held leases by meter: hosts list these again and again, so an engine keeps them at hand.
    func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)]
    /// The present lease of a meter, under any of its ids.
    func standing(of meter: String, in zone: String) async throws -> LeaseStanding
    /// The limits on every lease decision of this engine (Docs/Leases.md#rule-5).
    ///
    /// - Parameter now: on the clock of all lease times. If the wait after a restore is over by then, it is over for
    ///   good.
    func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits

    // MARK: Commands

    /// Reads a stored command and a lease, lets the rule decide, and stores the command that it returns, in one atomic
    /// step. The rule may be called several times, so it must have no side effects.
    ///
    /// - Parameter meter: the meter whose lease the rule needs, under its canonical id: aliases are not followed. Nil
    ///   if it needs none.
    func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer
    func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts
    /// Every stored command, in all zones.
    func commandMarks() async throws -> [CommandMark]
    /// Deletes stored commands, except those that have changed since they were seen.
    func forget(_ commands: [CommandMark]) async throws

    // MARK: Lease queues, and the copies of this cloud

    /// Changes one queue in one atomic step across all copies of this cloud. Never durable: with the last copy that
    /// uses the store its queues may be gone, and a host that waits queues again.
    ///
    /// - Parameter change: maps the hosts that wait to those that shall. It may be called several times, and must not
    ///   call the engine.
    /// - Returns: the queue afterwards.
    func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState
    /// All queues in all zones, as they were at one moment.
    func queues() async throws -> QueueSnapshot
    /// Sends the heartbeat of one copy of this cloud to the others, and returns theirs.
    ///
    /// - Parameters:
    ///   - isFirst: whether it is this copy's first, from which on it can be given up. If that failed, the next does not
    ///     count as the first.
    ///   - address: where the others reach this copy, if they do.
    func heartbeat(of copy: ReplicaID, isFirst: Bool, address: String?) async throws -> Heartbeats
    /// Removes a copy's heartbeat, which it notices with its next one.
    ///
    /// - Parameter mark: its last one, as seen; 0 if there was none.
    /// - Returns: false if it has sent another one since, so it is alive.
    func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool
    /// The secret by which the copies of this cloud know each other: the first one proposed.
    func copiesKey(proposing key: String) async throws -> String
}

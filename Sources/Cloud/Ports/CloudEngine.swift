package import CloudAPI
package import LeaseCore
package import MeterModel
package import SettingsCore

/// Where the cloud keeps what it knows: SQLite on one machine, later etcd, and memory in tests. All keep one contract
/// (`MeterTestKit/Contracts/CloudEngineContract`).
///
/// An engine stores and orders; what is allowed, the rules decide (`LeaseRules`, `Record.merge`, `StampLimit`), which
/// it calls within its atomic step. A call that returned is durable, but for renewals; one that began is finished even
/// when its task is cancelled. What can be expected to fail is thrown as a `CloudFailure`: `zoneNotFound` by every call
/// that names a zone which is not there (readers of one credential or of all excepted), `serviceUnavailable` where the
/// disk does not do its part.
package protocol CloudEngine: Sendable {
    /// Of the store: changed by every restore from a backup.
    var epoch: String { get async throws }

    /// Whether the store would do its part just now. Changes nothing that anybody sees.
    ///
    /// - Parameter writes: found out by a real write, where only that tells.
    /// - Throws: why not, and what to do.
    func probe(writes: Bool) async throws

    // MARK: Zones and who may use them

    /// Makes a zone, or returns the one that is there, as it is.
    ///
    /// - Parameter id: the identity of a zone that has to be made; nil for a random one.
    func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone
    func zones() async throws -> [Zone]
    func zone(_ name: String) async throws -> Zone?
    /// Leases that were given out keep the terms they have, but for a stricter policy, which comes with a renewal.
    func setTerms(_ terms: LeaseTerms, of zone: String) async throws
    /// Holds from the next change on. What is there already stays, also where it is more.
    func setQuota(_ quota: ZoneQuota, of zone: String) async throws
    /// What the zone's records count, counted in the same step as each change of them.
    func usage(of zone: String) async throws -> ZoneUsage
    /// - Throws: `badRequest` where its id or hash is taken; what `bind` throws, where it is bound already.
    func add(_ credential: Credential) async throws
    /// Binds a host's credential to it, once; binding it again to the same host and machine only takes the new name.
    ///
    /// - Throws: `notFound` where there is none by that id; `permissionDenied` where it is bound to another host or
    ///   machine, or revoked; `duplicateHost` where another machine has a credential of this zone, not revoked, with
    ///   this host id.
    func bind(_ binding: Credential.Binding, to credential: String) async throws
    func credential(hash: [UInt8]) async throws -> Credential?
    func credentials(in zone: String?) async throws -> [Credential]
    /// - Returns: false where there is none by that id.
    func revoke(credential id: String, at now: WallTime) async throws -> Bool

    // MARK: Records

    /// Merges each record with what is there, gives each that changed the zone's next sequence, refuses stamps beyond
    /// `StampLimit` and what the zone has no room for, all by `RecordIntake`. Each record is atomic; the batch need not
    /// be. Results in the order of the records.
    ///
    /// A `MeterAlias` that changes what ids mean comes into force for leases in the same step, or is refused
    /// (`AliasChange`).
    ///
    /// - Parameter leaseTime: on the clock of all lease times, by which a lease is over; one from before the call began is
    ///   good, as it only makes a lease over later.
    func modify(
        _ records: [Record], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome]
    /// Records of a type that changed after a token, oldest change first, each once at its newest place: whoever reads
    /// on until nothing more is coming misses no change that was acknowledged before it began, whatever is written
    /// meanwhile.
    ///
    /// The first change of a zone in each run of the cloud writes a mark in its own transaction (`TimelineMark`), so that
    /// a store that went back is found out.
    ///
    /// - Throws: what `FeedState.check` does: `anotherZone`, `changeTokenExpired`, and `timelineLost` for a token of a
    ///   future that this store does not have.
    func changes(of type: RecordType, in zone: String, after token: ChangeToken?, limit: Int) async throws -> ChangeList
    func record(_ key: RecordKey, in zone: String) async throws -> Record?
    /// For the console: by type and name, tombstones too.
    func records(in zone: String, type: RecordType?) async throws -> [Record]

    // MARK: What ages

    /// Dates the tombstones that came since the last call, then deletes those whose date is before `time`, and raises
    /// each zone's floor to their greatest sequence. What dates they have from hosts and from this machine's calendar is
    /// of no account: either may have been wrong.
    ///
    /// - Returns: how many were deleted.
    func purgeTombstones(before time: WallTime, dating: WallTime) async throws -> Int
    /// The date from which ages count back (`BelievedDate`); nil where none was ever stored.
    var believedDate: WallTime? { get async throws }
    /// Stores it for all copies of this cloud.
    ///
    /// - Parameter known: what it was when it was read.
    /// - Returns: false where another copy changed it meanwhile; nothing is stored then.
    func setBelievedDate(_ date: WallTime, replacing known: WallTime?) async throws -> Bool
    /// The greatest date of a stamp that any zone accepted; nil where none did.
    func newestStamp() async throws -> WallTime?

    // MARK: Leases

    /// Follows the zone's aliases, reads the lease, lets the rule decide, and stores what it returns, in one atomic step.
    /// The rule may be called several times, and must not mind. It runs where the engine writes: it is short and asks the
    /// engine nothing.
    ///
    /// - Parameter meter: any id of the meter.
    func decideLease<Answer: Sendable>(
        of meter: String, in zone: String,
        _ rule: @escaping @Sendable (LeaseStanding) -> LeaseDecision<Answer>
    ) async throws -> Answer
    /// All of a host's renewals, by `LeaseRules`, with one result each in their order, each under any id of its meter. Need
    /// not be durable: after a start every lease counts as renewed just then.
    func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy,
        at now: MonotonicTime
    ) async throws -> [LeaseRenewal]
    /// By meter, freed ones too, also those of ids that are aliases now.
    func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)]
    /// By meter, those that somebody holds: what hosts list again and again, so an engine has it at hand.
    func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)]
    /// The lease of a meter, by any of its ids, as it is now.
    func standing(of meter: String, in zone: String) async throws -> LeaseStanding
    /// What every lease decision of this engine has to heed (Docs/Leases.md#rule-5).
    ///
    /// - Parameter now: on the clock of all lease times. Where the wait after a restore is over then, it is for good.
    func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits

    // MARK: Lease queues

    /// Changes one line in one atomic step of all copies of this cloud. Never durable: with the last copy that uses the
    /// store its lines may be gone, and a host that waits queues again.
    ///
    /// - Parameter change: given those who wait, returns those who are to. It may be called several times, and asks the
    ///   engine nothing.
    /// - Returns: the line afterwards.
    func changeQueue(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> QueueState
    /// All lines, of all zones, as they were at one moment.
    func queues() async throws -> QueueSnapshot
    /// Shows the other copies of this cloud that one of them lives, and tells which signs the others gave.
    ///
    /// - Parameter isFirst: of this copy, from which on it can be given up. Where that failed, the next does not count
    ///   as the first.
    func heartbeat(of copy: ReplicaID, isFirst: Bool) async throws -> Heartbeats
    /// Takes a copy's sign of life away, which it notices with its next one.
    ///
    /// - Parameter mark: its last one, as it was seen; 0: there was none.
    /// - Returns: false where it gave another one since, so that it lives.
    func giveUp(_ copy: ReplicaID, seen mark: UInt64) async throws -> Bool
}

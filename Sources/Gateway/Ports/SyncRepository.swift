package import Domain
package import GatewayAPI

/// The store as the sync engine uses it. Each method is one durable transaction, so an interruption between two methods
/// neither skips nor repeats work.
package protocol SyncRepository: Sendable {
    func progress() async throws -> SyncProgress
    /// Returns the next changes to push; nil if there are none. They remain in the outbox until `settle`.
    ///
    /// - Parameter only: nil for all records.
    func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) async throws -> OutboxBatch?
    /// Applies the cloud's answer to a batch. Removes entries from the outbox if their stamps are unchanged, merges the
    /// answer, and sets permanently refused records aside. Accepted changes are remembered until a page lists them,
    /// because the cloud's store may be rolled back.
    ///
    /// Records over the cloud's quota (`quotaExceeded`) remain in the outbox, but batches omit them until
    /// `retryHeldBack`, a local write to the record, or `adopt`.
    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome
    /// Puts held-back records into batches again, first those held back least often; returns their number.
    func retryHeldBack(recordsMax: Int) async throws -> Int
    /// Merges a page, stores its change token and advances the hybrid clock past every stamp received. After a type's
    /// last page (`moreComing` false), changes pushed before the listing but missing from it are queued again, once.
    func apply(_ page: ChangesPage) async throws -> MergeOutcome
    /// Starts a full resync of a type whose change token expired. `apply` then sets aside live properties that are
    /// neither listed nor in the outbox: immediately within a listed record, and with the last page (`moreComing`
    /// false) for whole records. Unlisted deletions lose their effect.
    func beginRefetch(of type: RecordType) async throws
    /// Enters a zone, or restarts synchronisation with it. Deletes all change tokens, and queues or sets aside records
    /// according to `entry`. Deletions made in another zone are stored separately until the host returns there.
    func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws
    /// Repairs stamps that the cloud refused as too far ahead. Sets the hybrid clock back to the greatest stamp that
    /// the cloud accepted or sent. Outbox entries with stamps in the future get new stamps in the same order, beginning
    /// at `physical` (milliseconds since 1970, corrected).
    func restamp(from physical: UInt64) async throws
    /// Corrects the stamps of future local writes to the cloud's time. At `moment`, the wall clock was off by
    /// `clockOffset` (positive if behind). Unsent outbox entries written since the last boot get new stamps if theirs
    /// are off by more than 60 s. The new stamp is the time of writing by the boot-time clock. Call it with each
    /// exchange, before applying pages and loading batches.
    func correct(clockOffset: Duration, at moment: HostMoment) async throws
    /// Deletes expired tombstones and old history. Call only after a complete run.
    func cleanUp(now: WallTime) async throws
    /// Stores a run's end in `SyncProgress.record` and `SyncProgress.visits`.
    ///
    /// - Parameters:
    ///   - wall: this host's wall clock.
    ///   - serverTime: the cloud's wall clock, in milliseconds since 1970; nil if unknown.
    func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) async throws

    // MARK: Parked entries

    /// Returns records excluded from sync, latest first.
    func parked(limit: Int) async throws -> [ParkedEntry]
    /// Merges and queues set-aside values under their old stamps, so that newer values win. Requeues refused records,
    /// and tries again to store those that could not be stored.
    func restoreParked(_ id: String) async throws -> ParkedRestore
    /// Returns whether the `ParkedEntry` existed. Values that the cloud refused remain in force on this host.
    func dropParked(_ id: String) async throws -> Bool
    /// Drops parked entries that were set aside more than 30 days ago, but never a setting made on this host. Returns
    /// their number.
    ///
    /// - Parameter confirmed: a confirmed date. The age of entries older than the first call is counted from that call.
    func ageParked(to confirmed: WallTime) async throws -> Int
}

extension SyncRepository {
    package func nextBatch(recordsMax: Int, bytesMax: Int) async throws -> OutboxBatch? {
        try await nextBatch(recordsMax: recordsMax, bytesMax: bytesMax, of: nil)
    }
}

package let parkedAgeMax = Duration.seconds(30 * 86_400)

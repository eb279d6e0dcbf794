package import Domain
package import GatewayAPI

/// The store as the sync engine uses it. Each method is one durable transaction, so stopping between two neither skips
/// nor repeats work.
package protocol SyncRepository: Sendable {
    func progress() async throws -> SyncProgress
    /// Returns the next changes to send, nil if none wait. They remain in the outbox until `settle`.
    ///
    /// - Parameter only: the only record wanted; nil for all.
    func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) async throws -> OutboxBatch?
    /// Settles a sent batch. Removes entries from the outbox if their stamps are unchanged, merges the answer, and sets
    /// permanently refused records aside with the reason. Accepted changes are remembered until a page lists them,
    /// because the cloud's store may have been rolled back.
    ///
    /// Records over the cloud's quota (`quotaExceeded`) remain in the outbox, but batches omit them. `retryHeldBack`, a
    /// local write to the record, or `adopt` releases them.
    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome
    /// Makes batches include held-back records again, first those held back least often; returns their number.
    func retryHeldBack(recordsMax: Int) async throws -> Int
    /// Merges a page, stores its change token and advances the clock past every stamp received. After a type's last
    /// page (`moreComing` false), changes sent before the listing began but missing from it are queued again, once.
    func apply(_ page: ChangesPage) async throws -> MergeOutcome
    /// Starts a full resync of a type whose change token expired. `apply` then sets aside live properties that are
    /// neither listed nor waiting to be sent. Within a listed record this happens immediately; whole records follow
    /// with the last page (`moreComing` false). Unlisted deletions lose their effect.
    func beginRefetch(of type: RecordType) async throws
    /// Enters a zone, or restarts synchronisation with it. Deletes all change tokens, and queues or sets aside records
    /// according to `entry`. Deletions made in another zone are stored separately until the host returns to that zone.
    func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws
    /// Repairs stamps that the cloud refused as too far ahead. Sets the clock back to the greatest stamp that the cloud
    /// accepted or sent. Outbox entries with stamps in the future get new stamps in the same order, beginning at
    /// `physical` (milliseconds since 1970, corrected).
    func restamp(from physical: UInt64) async throws
    /// Corrects the stamps of later local writes to the cloud's time. At `moment`, the wall clock was off by
    /// `clockOffset` (positive if behind). Unsent outbox entries that were written since the last boot get new stamps
    /// if theirs are off by more than 60 s: their time of writing, by the boot-time clock. Call it with each exchange,
    /// before applying pages and reading batches.
    func correct(clockOffset: Duration, at moment: HostMoment) async throws
    /// Deletes expired tombstones and old history. Call it only after a complete run.
    func cleanUp(now: WallTime) async throws
    /// Records the end of a synchronisation run, for `SyncProgress.record` and `SyncProgress.visits`, which survive
    /// restarts.
    ///
    /// - Parameters:
    ///   - wall: current time by this host's calendar.
    ///   - serverTime: current time by the cloud's clock, in milliseconds since 1970, if known.
    func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) async throws

    // MARK: Parked entries

    /// Returns parked entries (records excluded from sync), latest first.
    func parked(limit: Int) async throws -> [ParkedEntry]
    /// Restores a parked entry. Merges and queues set-aside values under their old stamps, so that newer values win.
    /// Requeues refused records, and tries again to store those that could not be stored.
    func restoreParked(_ id: String) async throws -> ParkedRestore
    /// Removes a parked entry permanently; returns whether it existed. Refused values remain in force on this host.
    func dropParked(_ id: String) async throws -> Bool
    /// Drops parked entries that were set aside more than 30 days ago, but never a setting made on this host.
    ///
    /// - Parameter confirmed: a confirmed date. The age of entries that are older than the first call is counted from
    ///   that call.
    /// - Returns: number of entries dropped.
    func ageParked(to confirmed: WallTime) async throws -> Int
}

extension SyncRepository {
    package func nextBatch(recordsMax: Int, bytesMax: Int) async throws -> OutboxBatch? {
        try await nextBatch(recordsMax: recordsMax, bytesMax: bytesMax, of: nil)
    }
}

package let parkedAgeMax = Duration.seconds(30 * 86_400)

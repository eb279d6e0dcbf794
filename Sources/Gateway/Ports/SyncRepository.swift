package import Domain
package import GatewayAPI

/// The store as the sync engine uses it. Each method is one durable transaction, so stopping between two neither skips
/// nor repeats work.
package protocol SyncRepository: Sendable {
    func progress() async throws -> SyncProgress
    /// Returns the next changes to send, nil if none wait. They stay in the outbox until `settle`.
    ///
    /// - Parameter only: the only record wanted; nil for all.
    func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) async throws -> OutboxBatch?
    /// Settles a sent batch: removes entries from the outbox if their stamps are unchanged, merges the answer, and
    /// parks permanent refusals with the reason. Accepted changes are remembered until a page lists them, because the
    /// cloud's store may have been rolled back.
    ///
    /// Records over the cloud's quota (`quotaExceeded`) stay in the outbox, held back from batches. `retryHeldBack`, a
    /// local write to the record, or a restart of the zone releases them.
    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome
    /// Releases held-back records, those held back least often first; returns their number.
    func retryHeldBack(recordsMax: Int) async throws -> Int
    /// Merges a page, stores its token and advances the clock past every stamp received. A type's last page
    /// (`moreComing` false) requeues, once, changes that were sent before the listing began but are missing from it.
    func apply(_ page: ChangesPage) async throws -> MergeOutcome
    /// Starts a full resync of a type whose token expired. `apply` then sets aside live properties that are neither
    /// listed nor waiting to be sent. Within a listed record this happens immediately; whole records follow with the
    /// last page (`moreComing` false). Unlisted deletions lose their effect.
    func beginRefetch(of type: RecordType) async throws
    /// Enters a zone, or restarts synchronisation with it. Deletes all tokens, and queues or sets aside records
    /// according to `entry`. Deletions made in another zone are stored separately until the host returns to that zone.
    func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws
    /// Repairs stamps that the cloud refused as too far ahead. Sets the clock back to the greatest stamp that the cloud
    /// accepted or sent. Future entries get new stamps in their order, from `physical` on (milliseconds since 1970,
    /// corrected).
    func restamp(from physical: UInt64) async throws
    /// Corrects the stamps of later local writes to the cloud's time. At `moment`, the wall clock was off by
    /// `clockOffset` (positive if behind). Unsent outbox entries of this boot whose stamps are off by more than 60 s
    /// are restamped with their time of writing, by the boot-time clock. Call it with each exchange, before applying
    /// pages and reading batches.
    func correct(clockOffset: Duration, at moment: HostMoment) async throws
    /// Deletes expired tombstones and old history. Call it only after a complete run.
    func cleanUp(now: WallTime) async throws
    /// Records the end of a synchronisation run across restarts (`SyncProgress.record`, `SyncProgress.visits`).
    ///
    /// - Parameters:
    ///   - wall: this host's calendar.
    ///   - serverTime: the cloud's, in milliseconds since 1970, if known.
    func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) async throws

    // MARK: Parked entries

    /// Returns parked entries, latest first.
    func parked(limit: Int) async throws -> [ParkedEntry]
    /// Merges and queues set-aside values under their old stamps, so that newer values survive. Requeues refused
    /// records, and retries storing those that could not be kept.
    func restoreParked(_ id: String) async throws -> ParkedRestore
    /// Removes an entry permanently; returns whether it existed. Refused values remain in force on this host.
    func dropParked(_ id: String) async throws -> Bool
    /// Drops entries set aside for more than 30 days, but never a setting made on this host.
    ///
    /// - Parameter confirmed: a date known to be right. Entries from before the first call age from that call on.
    /// - Returns: number of entries dropped.
    func ageParked(to confirmed: WallTime) async throws -> Int
}

extension SyncRepository {
    package func nextBatch(recordsMax: Int, bytesMax: Int) async throws -> OutboxBatch? {
        try await nextBatch(recordsMax: recordsMax, bytesMax: bytesMax, of: nil)
    }
}

package let parkedAgeMax = Duration.seconds(30 * 86_400)

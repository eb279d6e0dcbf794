package import Domain
package import GatewayAPI

/// The store as the sync engine uses it. Each method is one durable transaction, so that stopping between any two
/// neither skips nor repeats work.
package protocol SyncRepository: Sendable {
    func progress() async throws -> SyncProgress
    /// The next changes to send, if any wait. They stay in the outbox until `settle` removes them.
    ///
    /// - Parameter only: nil for all records; otherwise the only one whose changes are wanted.
    func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) async throws -> OutboxBatch?
    /// Removes what was sent from the outbox (if its stamp is still the one sent), merges the cloud's answer, and parks
    /// what the cloud refused for good, with the reason. What the cloud accepted is remembered until a page lists it,
    /// because its store may have gone back since.
    ///
    /// What the cloud has no room for (`quotaExceeded`) stays in the outbox and is held back: no batch contains it
    /// until `retryHeldBack`, or until something in the record is written here, or the host starts over with a zone.
    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome
    /// Stops holding back some records, starting with those held back least often.
    ///
    /// - Returns: number of records; 0 if none is held back.
    func retryHeldBack(recordsMax: Int) async throws -> Int
    /// Merges a page and stores its token, together. Advances the clock past every stamp seen. With a type's last page
    /// (`moreComing` false), whatever was sent before the reading began and is not listed is queued again, once.
    func apply(_ page: ChangesPage) async throws -> MergeOutcome
    /// The type's token expired: reads the type again, marking what is seen. What the pages do not list and what is not
    /// waiting to be sent, `apply` sets aside: live properties, at once within a listed record, and with the last page
    /// (`moreComing` false) whole records. Unlisted deletions cease to be in force.
    func beginRefetch(of type: RecordType) async throws
    /// Starts with a zone, or starts over with the same one: forgets all tokens, and queues and sets aside what `entry`
    /// says. Deletions made in another zone are kept apart until the host is in that zone again.
    func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws
    /// Stamps in the outbox were refused as too far ahead. Sets the clock back to what the cloud ever accepted or sent,
    /// and gives new stamps to entries in the future, in their order, from `physical` on (milliseconds since 1970,
    /// corrected).
    func restamp(from physical: UInt64) async throws
    /// The wall clock showed `moment` when it was off by `clockOffset` (positive if behind). From then on local writes
    /// are stamped by the cloud's time. Entries of the outbox that were written since the machine started and never
    /// sent are moved to the time at which they were written, by the boot-time clock, if their stamp is off by more
    /// than 60 s. To be called with each exchange, before pages are applied and batches are read.
    func correct(clockOffset: Duration, at moment: HostMoment) async throws
    /// Deletes expired tombstones and old history. To be called only after a complete run.
    func cleanUp(now: WallTime) async throws
    /// Records the end of a run. Kept over restarts (`SyncProgress.record`, `SyncProgress.visits`).
    ///
    /// - Parameters:
    ///   - wall: this host's calendar.
    ///   - serverTime: the cloud's, in milliseconds since 1970, if known.
    func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) async throws

    // MARK: Parked entries

    /// Parked entries, the latest first.
    func parked(limit: Int) async throws -> [ParkedEntry]
    /// Merges what was set aside under its old stamps, so that nothing newer is overwritten, and queues it; queues what
    /// the cloud refused again; tries again to keep what could not be kept.
    func restoreParked(_ id: String) async throws -> ParkedRestore
    /// Removes an entry from the list for good. Values that the cloud refused remain in force here.
    ///
    /// - Returns: whether an entry had this id.
    func dropParked(_ id: String) async throws -> Bool
    /// Drops what was set aside for more than 30 days, but never a setting that was made on this host.
    ///
    /// - Parameter confirmed: a date known to be right. What was set aside before the first such call ages from that
    ///   call on.
    /// - Returns: number of entries dropped.
    func ageParked(to confirmed: WallTime) async throws -> Int
}

extension SyncRepository {
    /// The next changes to send, of whatever record.
    package func nextBatch(recordsMax: Int, bytesMax: Int) async throws -> OutboxBatch? {
        try await nextBatch(recordsMax: recordsMax, bytesMax: bytesMax, of: nil)
    }
}

/// How long what was set aside is kept: 30 days.
package let parkedAgeMax = Duration.seconds(30 * 86_400)

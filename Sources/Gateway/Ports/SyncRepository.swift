package import MeterModel
package import SettingsCore
package import SyncCore

/// The store as the sync engine uses it. Each method is one durable transaction, so that stopping between any two
/// neither skips nor repeats work.
package protocol SyncRepository: Sendable {
    func progress() async throws -> SyncProgress
    /// The next changes to tell, nil when none wait. Nothing is taken out: `settle` does that.
    func nextBatch(recordsMax: Int, bytesMax: Int) async throws -> OutboxBatch?
    /// Takes what was told out of the outbox (where its stamp is still the one that was sent), merges what the cloud
    /// answered, and parks what it refused for good, with the reason. What the cloud took is remembered until a page lists
    /// it: its store may have gone back since.
    ///
    /// What the cloud has no room for (`quotaExceeded`) stays in the outbox and is held back: no batch has it until
    /// `retryHeldBack`, or until something of the record is written here, or the host begins with a zone anew.
    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome
    /// Ends the holding back of some records, first of those that were held back least often.
    ///
    /// - Returns: of how many; 0 where none is held back.
    func retryHeldBack(recordsMax: Int) async throws -> Int
    /// Merges a page and stores its token, together. Advances the clock past every stamp seen. With a type's last page
    /// (`moreComing` false), what was told before the reading began and is not listed waits again, once.
    func apply(_ page: ChangesPage) async throws -> MergeOutcome
    /// The type's token expired: reads it anew, marking what is seen. What the pages do not list and what does not wait to
    /// be told, `apply` sets aside: live properties, at once within a listed record, and with the last page (`moreComing`
    /// false) whole records. Deletions that are not listed are no longer in force.
    func beginRefetch(of type: RecordType) async throws
    /// Begins with a zone, or anew with the same one: forgets all tokens, and queues and sets aside what `entry` says.
    /// Deletions that were made in another zone are kept apart until the host is in that zone again.
    func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws
    /// Stamps in the outbox were refused as too far ahead. Lowers the clock to what the cloud ever accepted or sent, and
    /// stamps what lies in the future anew, in its order, from `physical` on (milliseconds since 1970, corrected).
    func restamp(from physical: UInt64) async throws
    /// The wall clock showed `moment` when it was off by this much (positive: it is behind). From then on local writes
    /// are stamped by the cloud's time, and entries of the outbox that were written since the machine started and never
    /// told are moved to the time when they were written, as the boot-time clock has it, where their stamp is more than
    /// 60 s off. To be called with each exchange, before pages are applied and batches are read.
    func correct(clockOffset: Duration, at moment: HostMoment) async throws
    /// Expired tombstones and old history go. Only after a complete run.
    func cleanUp(now: WallTime) async throws
    /// A run is over. Kept over restarts (`SyncProgress.record`, `SyncProgress.visits`).
    ///
    /// - Parameters:
    ///   - wall: this host's calendar.
    ///   - serverTime: the cloud's, milliseconds since 1970; nil where it is not known.
    func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) async throws

    // MARK: What is parked

    /// The latest first.
    func parked(limit: Int) async throws -> [ParkedEntry]
    /// Merges what was set aside with its old stamps, so that nothing newer is overwritten, and queues it; queues again
    /// what the cloud refused; tries again to keep what could not be kept.
    func restoreParked(_ id: String) async throws -> ParkedRestore
    /// Takes an entry from the list, for good. What the cloud refused stands here still.
    ///
    /// - Returns: false where no entry has this id.
    func dropParked(_ id: String) async throws -> Bool
    /// Drops what was set aside for more than 30 days, but never a setting that was made on this host.
    ///
    /// - Parameter confirmed: a date that is known to be right. What was set aside before the first such call ages from
    ///   that call on.
    /// - Returns: how many entries were dropped.
    func ageParked(to confirmed: WallTime) async throws -> Int
}

/// How long what was set aside is kept: 30 days.
package let parkedAgeMax = Duration.seconds(30 * 86_400)

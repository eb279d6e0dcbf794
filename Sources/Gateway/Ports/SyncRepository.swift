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
    /// answered, and parks what it refused for good, with the reason.
    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome
    /// Merges a page and stores its token, together. Advances the clock past every stamp seen.
    func apply(_ page: ChangesPage) async throws -> MergeOutcome
    /// The type's token expired: reads it anew, marking what is seen. With the last page (`moreComing` false) `apply`
    /// deletes what was not seen and has nothing in the outbox.
    func beginRefetch(of type: RecordType) async throws
    /// The cloud is another store than before (a restored one): forgets all tokens and queues every record to be told
    /// again, tombstones too.
    func adopt(epoch: String) async throws
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
}

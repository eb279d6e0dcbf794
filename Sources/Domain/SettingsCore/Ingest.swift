/// The only way into a store of records: for local writes, pages of changes and imports alike.
///
/// A record that arrives under an older form of its name is merged under that name, so that nothing of it is lost and
/// every host gets the same result, and is then folded at once (`RebuildPlan`). So duplicates do not arise on a host of
/// this version.
package struct Ingest: Hashable, Sendable {
    /// The record as it arrived.
    package var record: SyncRecord
    /// What merging did to that record, under the name it arrived by.
    package var arrived: RecordMerge
    /// What folding did; nil if the name is in its normal form or there was nothing to fold. With a fold,
    /// `fold.loser.after` is stored, and `arrived.after` is not.
    package var fold: RebuildPlan.Fold?

    /// - Parameters:
    ///   - record: the record as it arrived.
    ///   - current: reads the record stored under a key.
    package init(_ record: SyncRecord, current: (RecordKey) throws -> SyncRecord?) rethrows {
        let before = try current(record.key) ?? SyncRecord(key: record.key)
        self.record = record
        arrived = before.merging(record)
        let key = record.key.normalised
        guard key != record.key else { return }
        fold = RebuildPlan.fold(arrived.after, into: try current(key))
    }

    /// The records to store, each before and after. Unchanged ones are left out.
    package var merges: [RecordMerge] {
        guard let fold else { return [arrived].filter { !$0.isEmpty } }
        return [RecordMerge(from: arrived.before, to: fold.loser.after), fold.canonical].filter { !$0.isEmpty }
    }

    /// What the cloud lacks, as changes from what arrived; for a record that came from the cloud and is all that the
    /// cloud has under its name. That is what folding made, and what the cloud has forgotten since it was pushed, such
    /// as a deletion older than the life of tombstones, if a host that was away for longer pushed older values again.
    ///
    /// Changes that are already in the outbox are included: a waiting entry with the same stamp stays as it is.
    package var mergesToTell: [RecordMerge] {
        let own = RecordMerge(from: record, to: fold?.loser.after ?? arrived.after)
        return [own, fold?.canonical].compactMap { $0 }.filter { !$0.isEmpty }
    }
}

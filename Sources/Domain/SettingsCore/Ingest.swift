/// The only way into a store of records, for local writes, pages of changes and imports.
///
/// A record under an older form of its name is merged under that name, then folded at once (`RebuildPlan`). So nothing
/// is lost, every host gets the same result, and no duplicates arise on a host of this version.
package struct Ingest: Hashable, Sendable {
    package var record: SyncRecord
    /// Effect of the merge on the record of that name.
    package var arrived: RecordMerge
    /// Effect of the fold; nil if the name is normal or the fold is empty. The store then keeps `fold.loser.after`
    /// instead of `arrived.after`.
    package var fold: RebuildPlan.Fold?

    /// - Parameter current: reads the record stored under a key.
    package init(_ record: SyncRecord, current: (RecordKey) throws -> SyncRecord?) rethrows {
        let before = try current(record.key) ?? SyncRecord(key: record.key)
        self.record = record
        arrived = before.merging(record)
        let key = record.key.normalised
        guard key != record.key else { return }
        fold = RebuildPlan.fold(arrived.after, into: try current(key))
    }

    /// The records to store, without unchanged ones.
    package var merges: [RecordMerge] {
        guard let fold else { return [arrived].filter { !$0.isEmpty } }
        return [RecordMerge(from: arrived.before, to: fold.loser.after), fold.canonical].filter { !$0.isEmpty }
    }

    /// Changes that the cloud lacks, if the record is all that the cloud has under its name. They come from the fold,
    /// or the cloud forgot them: a deletion older than the life of tombstones, overwritten by a host that was away.
    ///
    /// Changes already in the outbox are included: an entry with the same stamp stays as it is.
    package var mergesToTell: [RecordMerge] {
        let own = RecordMerge(from: record, to: fold?.loser.after ?? arrived.after)
        return [own, fold?.canonical].compactMap { $0 }.filter { !$0.isEmpty }
    }
}

/// The only way into a store of records, for local writes, pages of changes and imports.
///
/// Merges a record under an older form of its name, then immediately moves its values to the record with the normal
/// name (a fold, `RebuildPlan`). So no value is lost, every host gets the same result, and this version makes no
/// duplicates.
package struct Ingest: Hashable, Sendable {
    package var record: SyncRecord
    /// Merge under the record's original name.
    package var arrived: RecordMerge
    /// Fold of the record; nil if the name is normal or nothing was folded. With a fold, the store keeps
    /// `fold.loser.after` instead of `arrived.after`.
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

    /// Merges that the store must write; without those that change nothing.
    package var merges: [RecordMerge] {
        guard let fold else { return [arrived].filter { !$0.isEmpty } }
        return [RecordMerge(from: arrived.before, to: fold.loser.after), fold.canonical].filter { !$0.isEmpty }
    }

    /// Changes to push to the cloud, if the cloud has only the given record under its name. Either the fold made them,
    /// or the cloud lost them.
    ///
    /// Example of a loss: the cloud has purged a deletion with its expired tombstone. Then a long-absent host pushes
    /// the older values again.
    ///
    /// Includes changes already in the outbox; an entry with the same stamp is not changed.
    package var mergesToTell: [RecordMerge] {
        let own = RecordMerge(from: record, to: fold?.loser.after ?? arrived.after)
        return [own, fold?.canonical].compactMap { $0 }.filter { !$0.isEmpty }
    }
}

/// The only way to add a record to the store, for local writes, pages of changes and imports.
///
/// If the record's name is an older form of a meter's id, its values move to the record with the normal name (a fold,
/// `RebuildPlan`).
package struct Ingest: Hashable, Sendable {
    package var record: SyncRecord
    package var arrived: RecordMerge
    /// Nil if the name is normal or nothing was folded. With a fold, the store keeps `fold.loser.after` instead of
    /// `arrived.after`.
    package var fold: RebuildPlan.Fold?

    package init(_ record: SyncRecord, current: (RecordKey) throws -> SyncRecord?) rethrows {
        let before = try current(record.key) ?? SyncRecord(key: record.key)
        self.record = record
        arrived = before.merging(record)
        let key = record.key.normalised
        guard key != record.key else { return }
        fold = RebuildPlan.fold(arrived.after, into: try current(key))
    }

    /// Merges to apply, without those that have no effect.
    package var merges: [RecordMerge] {
        guard let fold else { return [arrived].filter { !$0.isEmpty } }
        return [RecordMerge(from: arrived.before, to: fold.loser.after), fold.canonical].filter { !$0.isEmpty }
    }

    /// Changes to push to the cloud, assuming that the cloud has only the given record under the record's name. May
    /// include changes that are already in the outbox.
    ///
    /// Either the fold made them, or the cloud lost them. Example: the cloud purged an expired tombstone, and then a
    /// long-absent host pushes the older values again.
    package var mergesToTell: [RecordMerge] {
        let own = RecordMerge(from: record, to: fold?.loser.after ?? arrived.after)
        return [own, fold?.canonical].compactMap { $0 }.filter { !$0.isEmpty }
    }
}

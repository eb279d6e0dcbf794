/// The one way into a store of records: for local writes, pages of changes and imports alike.
///
/// A record that comes under an older form of its name is merged there, so that nothing of it is lost and everybody
/// makes the same of it, and folded at once (`RebuildPlan`). So duplicates do not arise on a host of this version.
package struct Ingest: Hashable, Sendable {
    /// What came.
    package var record: SyncRecord
    /// What merging did to the record that came, under the name it came by.
    package var arrived: RecordMerge
    /// What folding did, nil where the name is normal or nothing was to be folded. `arrived.after` is stored nowhere
    /// then: `fold.loser.after` is.
    package var fold: RebuildPlan.Fold?

    /// - Parameters:
    ///   - record: what came.
    ///   - current: reads what is stored under a key.
    package init(_ record: SyncRecord, current: (RecordKey) throws -> SyncRecord?) rethrows {
        let before = try current(record.key) ?? SyncRecord(key: record.key)
        self.record = record
        arrived = before.merging(record)
        let key = record.key.normalised
        guard key != record.key else { return }
        fold = RebuildPlan.fold(arrived.after, into: try current(key))
    }

    /// The records to store, each with what it was and what it is. Those that stay as they were are not among them.
    package var merges: [RecordMerge] {
        guard let fold else { return [arrived].filter { !$0.isEmpty } }
        return [RecordMerge(from: arrived.before, to: fold.loser.after), fold.canonical].filter { !$0.isEmpty }
    }

    /// Where the record came from the cloud, and is all that the cloud has under its name: what it lacks, as changes
    /// from what came. What folding made; and what the cloud has forgotten since it was told, such as a deletion older
    /// than the life of tombstones, where a host that was away for longer told of older values again.
    ///
    /// What is in the outbox already is among them: an entry that waits with the same stamp stays as it is.
    package var mergesToTell: [RecordMerge] {
        let own = RecordMerge(from: record, to: fold?.loser.after ?? arrived.after)
        return [own, fold?.canonical].compactMap { $0 }.filter { !$0.isEmpty }
    }
}

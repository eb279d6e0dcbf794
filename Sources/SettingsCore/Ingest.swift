/// The one way into a store of records: for local writes, pages of changes and imports alike.
///
/// A record that comes under an older form of its name is merged there, so that nothing of it is lost and everybody
/// makes the same of it, and folded at once (`RebuildPlan`). So duplicates do not arise on a host of this version.
package struct Ingest: Hashable, Sendable {
    /// What merging did to the record that came, under the name it came by.
    package var arrived: RecordMerge
    /// What folding did, nil where the name is normal or nothing was to be folded. `arrived.after` is stored nowhere
    /// then: `fold.loser.after` is.
    package var fold: RebuildPlan.Fold?

    /// - Parameters:
    ///   - record: what came.
    ///   - current: reads what is stored under a key.
    package init(_ record: Record, current: (RecordKey) throws -> Record?) rethrows {
        let before = try current(record.key) ?? Record(key: record.key)
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

    /// Those of `merges` that the cloud does not know, where the record came from it: what folding made.
    package var mergesToTell: [RecordMerge] {
        guard let fold else { return [] }
        return [fold.loser, fold.canonical].filter { !$0.isEmpty }
    }
}

import MeterModel

/// How records of an older form are folded into the one that has the meter's normal id
/// (Docs/SettingsAndRebuild.md#rebuild).
///
/// `canonical(MAC)` is the per-property merge of all records of that meter. A deletion hides older properties of its
/// own record only, and is never folded. No "winner": what a replica happens to hold decides nothing, so that several
/// hosts may fold at once, each what it has, and end with the same records. Folding record by record gives what folding
/// all at once gives.
///
/// - A folded property keeps its stamp. Where the canonical record was itself deleted later than that, as one does with
///   a duplicate, the property is lifted to just above the deletion (`Stamp.lifted`), or the deletion would reach into
///   another record.
/// - The record that was folded becomes a tombstone with `mergedInto`, stamped with its own newest stamp: every host
///   that held the same makes the same tombstone, and a write that comes later to the old name is younger, is seen, and
///   is folded in its turn: then as a write to the canonical record, whose deletions count.
package enum RebuildPlan {
    /// Of these rules. A greater one makes every host scan its records again.
    package static let version = 1

    /// The types that have names of several forms, in the order of the scan.
    package static let types: [RecordType] = RecordType.known.filter(\.isNamedByMeter)

    /// What becomes of a record with an older form of name, and of the canonical one.
    package struct Fold: Hashable, Sendable {
        package var canonical: RecordMerge
        package var loser: RecordMerge
        /// Values of the loser that lost to younger ones of the canonical record, in order of name.
        package var outdone: [OverwrittenValue]
    }

    /// Folds one record into the canonical one.
    ///
    /// - Parameter canonical: the record by the normal key as it is now, nil where there is none.
    /// - Returns: nil where there is nothing to fold: the name is normal, or nothing but a deletion is left of it.
    package static func fold(_ loser: SyncRecord, into canonical: SyncRecord?) -> Fold? {
        let key = loser.key.normalised
        guard key != loser.key, let newest = loser.newestStamp, !loser.properties.isEmpty else { return nil }
        let before = canonical ?? SyncRecord(key: key)
        let folded = SyncRecord(key: key, properties: properties(of: loser, under: before.deletion))
        let after = before.merged(with: folded)
        let bringer = loser.properties.values.first { $0.stamp == newest }?.broughtBy
        let tombstone = SyncRecord(
            key: loser.key, deletion: Deletion(stamp: newest, mergedInto: key.name, broughtBy: bringer))
        return Fold(
            canonical: RecordMerge(from: before, to: after),
            loser: RecordMerge(from: loser, to: loser.merged(with: tombstone)),
            outdone: outdone(folded, in: after))
    }

    private static func properties(of loser: SyncRecord, under deletion: Deletion?) -> [String: Register] {
        // A record that was folded before is one with the canonical record since: a deletion of that one counts for it.
        guard let deletion, loser.deletion?.mergedInto == nil else { return loser.properties }
        return loser.properties.mapValues { register in
            guard register.stamp <= deletion.stamp else { return register }
            // The stamp that folding makes is nobody's; whose the value was stays known.
            return Register(
                value: register.value, stamp: .lifted(register.stamp, above: deletion.stamp),
                broughtBy: register.broughtBy ?? register.stamp.host)
        }
    }

    private static func outdone(_ folded: SyncRecord, in canonical: SyncRecord) -> [OverwrittenValue] {
        folded.properties.sorted { $0.key < $1.key }.compactMap { name, old in
            guard let winner = canonical.properties[name] else {
                return canonical.deletion.map {
                    OverwrittenValue(property: name, old: old, new: nil, by: $0.stamp, broughtBy: $0.broughtBy)
                }
            }
            guard winner.value != old.value else { return nil }
            return OverwrittenValue(
                property: name, old: old, new: winner.value, by: winner.stamp, broughtBy: winner.broughtBy)
        }
    }
}

/// Folds records under an older form of a meter's id into the record under its normal id
/// (Docs/SettingsAndRebuild.md#rebuild).
///
/// The canonical record is the per-property merge of all records of the meter. A deletion hides only older properties
/// of its own record, and is never folded. Several hosts may fold at the same time, in any order, with the same result.
///
/// - A folded property keeps its stamp. If the canonical record was deleted later, the stamp is lifted to just above
///   the deletion (`Stamp.lifted`). Otherwise the deletion would also delete the other record's property.
/// - The folded record becomes a tombstone with `mergedInto` and its own newest stamp. A later write to the old name
///   counts as a write to the canonical record, whose deletions then apply.
package enum RebuildPlan {
    /// Version of the fold rules. A greater version makes every host scan its records again.
    package static let version = 1

    /// Record types whose names have several forms, in scan order.
    package static let types: [RecordType] = RecordType.known.filter(\.isNamedByMeter)

    package struct Fold: Hashable, Sendable {
        package var canonical: RecordMerge
        package var loser: RecordMerge
        /// Values of the folded record that newer values replaced, sorted by name.
        package var outdone: [OverwrittenValue]
    }

    /// - Returns: nil if the record's name is normal, or if the record contains only a deletion.
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
        // An already folded record is part of the canonical record, whose deletion applies to it too. So its stamps are
        // not lifted.
        guard let deletion, loser.deletion?.mergedInto == nil else { return loser.properties }
        return loser.properties.mapValues { register in
            guard register.stamp <= deletion.stamp else { return register }
            // A lifted stamp names no host, so `broughtBy` keeps the author.
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

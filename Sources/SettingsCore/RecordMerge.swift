package import MeterModel

/// A value that a later write or a deletion replaced, for the history.
package struct OverwrittenValue: Hashable, Sendable {
    package var property: String
    package var old: Register
    /// What stands there now; nil means the record was deleted.
    package var new: SettingValue?
    /// Of the write or deletion that replaced it: who did it and when.
    package var by: Stamp
    /// Who brought that, where it was not its author (`Register.broughtBy`).
    package var broughtBy: HostID?

    package init(property: String, old: Register, new: SettingValue?, by: Stamp, broughtBy: HostID? = nil) {
        self.property = property
        self.old = old
        self.new = new
        self.by = by
        self.broughtBy = broughtBy
    }
}

/// What a merge does to a record: the result, what in it is news, and what was lost by it.
///
/// A store writes `after`, puts `news` of its own making into the outbox, and `overwritten` into the history.
package struct RecordMerge: Hashable, Sendable {
    package var before: SyncRecord
    package var after: SyncRecord
    /// Properties whose register is not the one of before, in order of name. A deleted one is not among them.
    package var news: [String]
    /// The deletion is not the one of before.
    package var deletionIsNews: Bool
    /// In order of name. Writing the same value again is not one.
    package var overwritten: [OverwrittenValue]

    /// Nothing is to be written.
    package var isEmpty: Bool { news.isEmpty && !deletionIsNews }

    /// Compares two states of one record, the second of which is the first with something merged into it.
    package init(from before: SyncRecord, to after: SyncRecord) {
        self.before = before
        self.after = after
        deletionIsNews = before.deletion != after.deletion
        news = after.properties.filter { before.properties[$0.key] != $0.value }.keys.sorted()
        overwritten = before.properties.sorted { $0.key < $1.key }.compactMap { name, old in
            guard let new = after.properties[name] else {
                return after.deletion.map {
                    OverwrittenValue(
                        property: name, old: old, new: nil, by: $0.stamp, broughtBy: $0.broughtBy)
                }
            }
            guard new.value != old.value else { return nil }
            return OverwrittenValue(
                property: name, old: old, new: new.value, by: new.stamp, broughtBy: new.broughtBy)
        }
    }
}

extension SyncRecord {
    /// What taking `other` over would do here.
    package func merging(_ other: SyncRecord) -> RecordMerge { RecordMerge(from: self, to: merged(with: other)) }
}

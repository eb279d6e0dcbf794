/// A value that a later write or deletion replaced.
package struct OverwrittenValue: Hashable, Sendable {
    package var property: String
    package var old: Register
    /// Nil if the record was deleted.
    package var new: SettingValue?
    package var by: Stamp
    /// Host that delivered the replacing change to the cloud (`Register.broughtBy`); nil if it is the author, or
    /// unknown.
    package var broughtBy: HostID?

    package init(property: String, old: Register, new: SettingValue?, by: Stamp, broughtBy: HostID? = nil) {
        self.property = property
        self.old = old
        self.new = new
        self.by = by
        self.broughtBy = broughtBy
    }
}

/// Effect of a merge. A store writes `after`, adds `overwritten` to the history, and queues this host's own changes
/// (`news`) in the outbox.
package struct RecordMerge: Hashable, Sendable {
    package var before: SyncRecord
    package var after: SyncRecord
    /// Changed properties, sorted by name; excludes deleted ones.
    package var news: [String]
    package var deletionIsNews: Bool
    /// Overwritten values, sorted by name. A rewrite of the same value does not count.
    package var overwritten: [OverwrittenValue]

    package var newRegisters: [(property: String, register: Register)] {
        news.compactMap { name in after.properties[name].map { (name, $0) } }
    }

    package var isEmpty: Bool { news.isEmpty && !deletionIsNews }

    /// - Parameter after: `before` with another record merged into it.
    package init(from before: SyncRecord, to after: SyncRecord) {
        self.before = before
        self.after = after
        deletionIsNews = before.deletion != after.deletion
        guard before.properties != after.properties else {
            (news, overwritten) = ([], [])
            return
        }
        news = after.properties.compactMap { before.properties[$0] == $1 ? nil : $0 }.sorted()
        overwritten = before.properties.compactMap { name, old -> OverwrittenValue? in
            guard let new = after.properties[name] else {
                return after.deletion.map {
                    OverwrittenValue(
                        property: name, old: old, new: nil, by: $0.stamp, broughtBy: $0.broughtBy)
                }
            }
            guard new.value != old.value else { return nil }
            return OverwrittenValue(
                property: name, old: old, new: new.value, by: new.stamp, broughtBy: new.broughtBy)
        }.sorted { $0.property < $1.property }
    }
}

extension SyncRecord {
    package func merging(_ other: SyncRecord) -> RecordMerge { RecordMerge(from: self, to: merged(with: other)) }
}

/// What a page, or the answer to a batch, changed in the store.
package struct MergeOutcome: Hashable, Sendable {
    /// Records that were changed.
    package var changed: [RecordKey]
    /// Records of the page that were skipped because they had nothing new.
    package var unchanged: Int
    /// Records set aside, with the reason: they cannot be kept (an illegal name or value), or the cloud did not list
    /// them.
    package var parked: Int
    /// Changes among them that other hosts made, for the log.
    package var news: [RecordNews] = []
    /// Properties and deletions that the cloud acknowledged but does not list; they wait to be sent again.
    package var toldAgain = 0

    package init(changed: [RecordKey] = [], unchanged: Int = 0, parked: Int = 0) {
        self.changed = changed
        self.unchanged = unchanged
        self.parked = parked
    }
}

/// What a merge took over from other hosts in one record.
package struct RecordNews: Hashable, Sendable {
    package var key: RecordKey
    /// Sorted by name.
    package var properties: [String]
    package var isDeleted: Bool
    /// The hosts that wrote it, sorted.
    package var hosts: [HostID]

    /// Nil if the merge took nothing over.
    package init?(_ merge: RecordMerge) {
        guard !merge.isEmpty else { return nil }
        key = merge.after.key
        properties = merge.news
        isDeleted = merge.deletionIsNews
        var hosts = Set(merge.newRegisters.map(\.register.stamp.host))
        if merge.deletionIsNews, let deletion = merge.after.deletion { hosts.insert(deletion.stamp.host) }
        self.hosts = hosts.sorted()
    }
}

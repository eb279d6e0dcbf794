/// Changes that one transaction made in the store: for a local write, a page, or the answer to a batch.
package struct MergeOutcome: Hashable, Sendable {
    /// Records that were changed, each once.
    package var changed: [RecordKey]
    /// Records that a host applies immediately, as the transaction stored them: the changed device settings, and all
    /// aliases if one changed. There are at most as many settings as records in the page or batch. Only the end of a
    /// refetch can add more, because it sets records aside.
    package var present: [SyncRecord] = []
    /// Sequence number of the transaction since the store was opened. If two outcomes contain the same record, the
    /// greater number has the later state.
    package var number: UInt64 = 0
    /// Number of records that were skipped because they contained no changes.
    package var unchanged: Int
    /// Number of records set aside (`meterctl sync parked`), because their name or value is illegal, or because a
    /// refetch of all records did not contain them.
    package var parked: Int
    /// Changes by other hosts, for the log.
    package var news: [RecordNews] = []
    /// Number of properties and deletions that the cloud acknowledged but did not send back in its pages. The outbox
    /// sends them again.
    package var toldAgain = 0

    package init(changed: [RecordKey] = [], unchanged: Int = 0, parked: Int = 0) {
        self.changed = changed
        self.unchanged = unchanged
        self.parked = parked
    }
}

/// Changes that other hosts made to one record.
package struct RecordNews: Hashable, Sendable {
    package var key: RecordKey
    /// Names of the changed properties, sorted.
    package var properties: [String]
    package var isDeleted: Bool
    /// Authors of the changes, sorted.
    package var hosts: [HostID]

    /// Returns nil if the merge changed nothing.
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

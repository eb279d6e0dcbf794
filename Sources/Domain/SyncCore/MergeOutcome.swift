/// Changes of one transaction in the store: a local write, a page, or the answer to a batch.
package struct MergeOutcome: Hashable, Sendable {
    /// Changed records, each once.
    package var changed: [RecordKey]
    /// Records that a host applies immediately: the changed device settings, and all aliases if one changed.
    package var present: [SyncRecord] = []
    /// Sequence number of the transaction since the store was opened. Of two outcomes with the same record, the greater
    /// number is current.
    package var number: UInt64 = 0
    package var unchanged: Int
    /// Number of records set aside (`meterctl sync parked`): their name or value is illegal, or a refetch did not
    /// contain them.
    package var parked: Int
    /// Changes by other hosts, for the log.
    package var news: [RecordNews] = []
    /// Number of properties and deletions that the cloud acknowledged but did not list in its pages. The outbox sends
    /// them again.
    package var toldAgain = 0

    package init(changed: [RecordKey] = [], unchanged: Int = 0, parked: Int = 0) {
        self.changed = changed
        self.unchanged = unchanged
        self.parked = parked
    }
}

/// Changes by other hosts to one record.
package struct RecordNews: Hashable, Sendable {
    package var key: RecordKey
    /// Names of the changed properties, sorted.
    package var properties: [String]
    package var isDeleted: Bool
    /// Authors of the changes, sorted.
    package var hosts: [HostID]

    /// Nil if the merge changed nothing.
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

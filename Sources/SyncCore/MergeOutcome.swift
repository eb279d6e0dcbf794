package import MeterModel
package import SettingsCore

/// What a page or a batch's answer changed in the store.
package struct MergeOutcome: Hashable, Sendable {
    /// Records that are not what they were.
    package var changed: [RecordKey]
    /// Records of the page that were skipped: nothing new in them.
    package var unchanged: Int
    /// Records that cannot be kept (an illegal name or value), or that the cloud did not list: set aside with the
    /// reason.
    package var parked: Int
    /// What in them is another host's news, for the log.
    package var news: [RecordNews] = []
    /// Properties and deletions that the cloud acknowledged and does not list: they wait to be sent once more.
    package var toldAgain = 0

    package init(changed: [RecordKey] = [], unchanged: Int = 0, parked: Int = 0) {
        self.changed = changed
        self.unchanged = unchanged
        self.parked = parked
    }
}

/// What a merge took over of one record from others.
package struct RecordNews: Hashable, Sendable {
    package var key: RecordKey
    /// In order of name.
    package var properties: [String]
    package var isDeleted: Bool
    /// Who wrote it, in order.
    package var hosts: [HostID]

    /// nil where the merge took nothing over.
    package init?(_ merge: RecordMerge) {
        guard !merge.isEmpty else { return nil }
        key = merge.after.key
        properties = merge.news
        isDeleted = merge.deletionIsNews
        var hosts = Set(merge.news.compactMap { merge.after.properties[$0]?.stamp.host })
        if merge.deletionIsNews, let deletion = merge.after.deletion { hosts.insert(deletion.stamp.host) }
        self.hosts = hosts.sorted()
    }
}

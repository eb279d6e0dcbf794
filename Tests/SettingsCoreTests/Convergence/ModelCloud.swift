import Domain

/// A model of the cloud's records: merges, numbers changes, serves pages, refuses stamps of the future.
struct ModelCloud {
    struct Entry {
        var record: SyncRecord
        var sequence: Int
    }

    /// One page of changes.
    struct Page {
        var records: [SyncRecord]
        var since: Int
        var token: Int
        var moreComing: Bool
        var epoch: Int
    }

    /// The cloud's answer to one record of a batch.
    struct Answer {
        var sent: SyncRecord
        /// Whether its stamps are too far ahead.
        var isRefused: Bool
        /// The record as it is now, if it differs from what was sent.
        var merged: SyncRecord?
    }

    let rule: MergeRule
    private(set) var entries: [RecordKey: Entry] = [:]
    private(set) var sequence = 0
    private(set) var epoch = 1
    /// Tokens below it are expired.
    private(set) var floor = 0
    /// The greatest milliseconds that it accepted.
    private(set) var accepted: UInt64 = 0
    /// Every register and deletion that it ever accepted, whatever became of it, for the checks.
    private(set) var log: [RecordKey: [SyncRecord]] = [:]

    init(rule: MergeRule) { self.rule = rule }

    mutating func modify(_ records: [SyncRecord], now: UInt64) -> [Answer] {
        records.map { record in
            let latest = StampLimit.latest(now: now, accepted: accepted)
            guard let newest = record.newestStamp, newest.milliseconds <= latest else {
                return Answer(sent: record, isRefused: true)
            }
            accepted = max(accepted, newest.milliseconds)
            log[record.key, default: []].append(record)
            let before = entries[record.key]?.record ?? SyncRecord(key: record.key)
            var after = before
            rule.merge(record, into: &after)
            if after != before {
                sequence += 1
                entries[record.key] = Entry(record: after, sequence: sequence)
            }
            return Answer(sent: record, isRefused: false, merged: after == record ? nil : after)
        }
    }

    /// - Returns: nil if the token is expired.
    func changes(since token: Int, limit: Int) -> Page? {
        guard token == 0 || token >= floor else { return nil }
        let changed = entries.values.filter { $0.sequence > token }.sorted { $0.sequence < $1.sequence }
        let page = changed.prefix(limit)
        return Page(
            records: page.map(\.record), since: token,
            token: changed.count > limit ? page.last?.sequence ?? token : sequence,
            moreComing: changed.count > limit, epoch: epoch)
    }

    /// Forgets all tombstones, as after half a year.
    mutating func purge() {
        for (key, entry) in entries where entry.record.isTombstone {
            floor = max(floor, entry.sequence)
            entries[key] = nil
        }
    }

    /// Goes back to an older state of itself.
    mutating func restore(_ backup: ModelCloud) {
        entries = backup.entries
        sequence = backup.sequence
        accepted = backup.accepted
        floor = 0
        epoch += 1
    }
}

import CloudAPI
package import MeterModel
package import SettingsCore

/// What becomes of one record that a host sent, decided from it and from what is stored: the one rule of all engines.
package enum RecordIntake: Hashable, Sendable {
    /// Nothing in it was news.
    case unchanged
    /// Store this one, under the zone's next sequence, and change what the zone has used, in the same step.
    case changed(Record, usage: ZoneUsage)
    case clockSkew
    case tooManyProperties
    case quotaExceeded(QuotaExcess)

    /// - Parameters:
    ///   - accepted: the greatest milliseconds of a stamp that the zone ever accepted, 0 for none. The caller raises it
    ///     by each record that it stores (`newestMilliseconds`).
    ///   - usage: of the zone, with all that was stored before.
    package static func decide(
        _ incoming: Record, onto stored: Record?, now: WallTime, accepted: UInt64, usage: ZoneUsage, quota: ZoneQuota
    ) -> RecordIntake {
        // Nothing to store, and nothing to refuse.
        guard let newest = incoming.newestStamp else { return .unchanged }
        let now = UInt64(clamping: now.millisecondsSince1970)
        guard newest.milliseconds <= StampLimit.latest(now: now, accepted: accepted) else { return .clockSkew }
        let merged = stored?.merged(with: incoming) ?? incoming
        guard merged != stored else { return .unchanged }
        guard merged.properties.count <= CloudLimits.propertiesPerRecord else { return .tooManyProperties }
        let change = ZoneUsage.change(from: stored, to: merged)
        if let excess = usage.excess(adding: change, under: quota) { return .quotaExceeded(excess) }
        return .changed(merged, usage: change)
    }

    /// What `accepted` is at least, after `record` was stored.
    package static func newestMilliseconds(of record: Record) -> UInt64 { record.newestStamp?.milliseconds ?? 0 }

    /// From when on a record's age as a tombstone counts, as it is stored first: never, until a confirmed calendar has
    /// dated it. nil for a record that is no tombstone.
    package static func tombstoneTime(of record: Record) -> WallTime? { record.isTombstone ? undated : nil }

    /// Of a tombstone that no confirmed calendar has dated yet: no age is reached.
    package static let undated = WallTime(millisecondsSince1970: .max)
}

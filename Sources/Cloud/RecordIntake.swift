import CloudAPI
package import Domain

/// The decision about one record sent by a host, from it and from what is stored: the one rule for all engines.
package enum RecordIntake: Hashable, Sendable {
    /// There was nothing new in it.
    case unchanged
    /// Store this record under the zone's next sequence, and update the zone's usage, in the same step.
    case changed(SyncRecord, usage: ZoneUsage)
    case clockSkew
    case tooManyProperties
    case quotaExceeded(QuotaExcess)

    /// - Parameters:
    ///   - accepted: the greatest time of a stamp that the zone ever accepted, in milliseconds since 1970, or 0. The
    ///     caller raises it with each record that it stores (`newestMilliseconds`).
    ///   - usage: of the zone, including everything stored before.
    package static func decide(
        _ incoming: SyncRecord, onto stored: SyncRecord?, now: WallTime, accepted: UInt64, usage: ZoneUsage,
        quota: ZoneQuota
    ) -> RecordIntake {
        // There is nothing to store and nothing to refuse.
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

    /// The least value of `accepted` after `record` was stored.
    package static func newestMilliseconds(of record: SyncRecord) -> UInt64 { record.newestStamp?.milliseconds ?? 0 }

    /// The first value of the date from which a record's age as a tombstone counts: never, until a confirmed calendar
    /// has dated it. Nil if the record is not a tombstone.
    package static func tombstoneTime(of record: SyncRecord) -> WallTime? { record.isTombstone ? undated : nil }

    /// The date of a tombstone that no confirmed calendar has dated yet: it never reaches any age.
    package static let undated = WallTime(millisecondsSince1970: .max)
}

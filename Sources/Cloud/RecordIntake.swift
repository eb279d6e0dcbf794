import CloudAPI
package import Domain

/// The decision about one record from a host, given the stored one, for all engines.
package enum RecordIntake: Hashable, Sendable {
    case unchanged
    /// Record to store under the zone's next sequence, in the same step as the zone's usage.
    case changed(SyncRecord, usage: ZoneUsage)
    case clockSkew
    case tooManyProperties
    case quotaExceeded(QuotaExcess)

    /// - Parameters:
    ///   - accepted: greatest time of a stamp that the zone ever accepted, in milliseconds since 1970, or 0. The caller
    ///     raises it with each record that it stores (`newestMilliseconds`).
    ///   - usage: usage of the zone before this record.
    package static func decide(
        _ incoming: SyncRecord, onto stored: SyncRecord?, now: WallTime, accepted: UInt64, usage: ZoneUsage,
        quota: ZoneQuota
    ) -> RecordIntake {
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

    package static func newestMilliseconds(of record: SyncRecord) -> UInt64 { record.newestStamp?.milliseconds ?? 0 }

    package static func tombstoneTime(of record: SyncRecord) -> WallTime? { record.isTombstone ? undated : nil }

    /// Date of a tombstone that no confirmed wall clock has dated yet: such a tombstone is never purged.
    package static let undated = WallTime(millisecondsSince1970: .max)
}

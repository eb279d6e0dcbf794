package import Domain

/// Stores readings aggregated into seconds, minutes and hours, in addition to single readings or instead of them. Each
/// reading counts exactly once in the minutes and hours, even after an interruption.
package protocol TierRepository: Sendable {
    /// Aggregates some new readings into minutes and hours. Returns their number; 0 when none are left.
    func rollUp() async throws -> Int
    /// Replaces some single readings older than `cutoff` by one-second aggregates, if these take less space. Selects
    /// readings above `SampleRetention.thinnedRate` that are already aggregated into minutes. Returns their number; 0
    /// when none are left.
    func thin(before cutoff: WallTime) async throws -> Int
    /// Deletes whole blocks of a tier (aggregates of one resolution) from before `cutoff`.
    func expire(_ tier: SampleTier, before cutoff: WallTime) async throws
    /// Buckets that begin in a time span, earliest first. Readings stored only singly have no buckets.
    func buckets(_ tier: SampleTier, of meter: MeterID, in span: Range<WallTime>) async throws -> [SampleBucket]
    /// Time of the first single reading, one-second or one-minute aggregate stored in a time span. The cost grows with
    /// the stored data, not with the span.
    func firstStored(of meter: MeterID, in span: Range<WallTime>) async throws -> WallTime?
    /// Fills a series from its tier's buckets, and from readings that are not yet in that tier.
    func fill(_ series: SeriesBuilder, of meter: MeterID) async throws -> SeriesBuilder
}

package struct SampleRetention: Hashable, Sendable {
    /// Maximum age of single readings that arrived faster than `thinnedRate`.
    package var single: Duration = .seconds(30 * 86_400)
    /// Maximum age of other single readings, and of one-second aggregates.
    package var seconds: Duration = .seconds(400 * 86_400)
    /// Maximum age of one-minute aggregates. Hourly aggregates are kept forever: 5 kB a day at most.
    package var minutes: Duration = .seconds(1830 * 86_400)

    /// Maximum rate, in readings per second, at which single readings take less space than one-second aggregates
    /// (minima, maxima, means and counts).
    package static let thinnedRate: Int64 = 4

    package init() {}
}

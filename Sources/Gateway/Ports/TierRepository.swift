package import Domain

/// Keeps readings of long periods small: aggregated into seconds, minutes and hours, beside or instead of the single
/// ones.
///
/// Each reading is counted in the minutes and hours exactly once, whatever is interrupted when.
package protocol TierRepository: Sendable {
    /// Aggregates some of what came since the last call into minutes and hours.
    ///
    /// - Returns: number of readings aggregated; 0 when nothing is left to do.
    func rollUp() async throws -> Int
    /// Replaces some of the single readings older than `cutoff` by seconds, if that is shorter: those that came more
    /// often than `SampleRetention.thinnedRate` and are already aggregated into minutes.
    ///
    /// - Returns: number of readings replaced; 0 when nothing is left to do.
    func thin(before cutoff: WallTime) async throws -> Int
    /// Deletes a tier's contents from before `cutoff`, in whole blocks.
    func expire(_ tier: SampleTier, before cutoff: WallTime) async throws
    /// The buckets of a tier that begin in a span of time, earliest first. Readings that exist only as single ones have
    /// no buckets.
    func buckets(_ tier: SampleTier, of meter: MeterID, in span: Range<WallTime>) async throws -> [SampleBucket]
    /// The time of the first measurement in a span of time of which anything is left, as a single reading, second or
    /// minute, if there is any. The cost grows with what is stored, not with the span.
    func firstStored(of meter: MeterID, in span: Range<WallTime>) async throws -> WallTime?
    /// Adds all that the series asks for, from the tier it names and from what is not in that tier yet.
    func fill(_ series: SeriesBuilder, of meter: MeterID) async throws -> SeriesBuilder
}

/// How long readings are kept, and at what resolution.
package struct SampleRetention: Hashable, Sendable {
    /// Age limit of single readings that came more often than `thinnedRate`.
    package var single: Duration = .seconds(30 * 86_400)
    /// Age limit of other single readings, and of the seconds that replaced thinned ones.
    package var seconds: Duration = .seconds(400 * 86_400)
    /// Age limit of minutes. Hours are kept for ever: 5 kB a day at most.
    package var minutes: Duration = .seconds(1830 * 86_400)

    /// Readings a second. Up to this rate the single readings take less room than their seconds with minima, maxima,
    /// means and counts would.
    package static let thinnedRate: Int64 = 4

    package init() {}
}

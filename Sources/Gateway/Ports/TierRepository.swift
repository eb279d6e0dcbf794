package import MeterModel

/// Where readings of long times are kept small: summed up in seconds, minutes and hours beside or instead of the single
/// ones.
///
/// Each reading is in the minutes and hours exactly once, whatever is interrupted when.
package protocol TierRepository: Sendable {
    /// Sums up what came since the last call in minutes and hours, some of it.
    ///
    /// - Returns: how many readings were summed up; 0 when nothing is left to do.
    func rollUp() async throws -> Int
    /// Replaces some of the single readings that are older than `cutoff` by seconds, where that is shorter: those that
    /// came more often than `SampleRetention.thinnedRate`, and that are summed up in minutes already.
    ///
    /// - Returns: how many readings were replaced; 0 when nothing is left to do.
    func thin(before cutoff: WallTime) async throws -> Int
    /// Deletes what a tier holds from before `cutoff`, in whole blocks.
    func expire(_ tier: SampleTier, before cutoff: WallTime) async throws
    /// The buckets of a tier that begin in a span of time, the earliest first. Of what is in single readings alone there
    /// are none.
    func buckets(_ tier: SampleTier, of meter: MeterID, in span: Range<WallTime>) async throws -> [SampleBucket]
    /// When the first thing was measured in a span of time of which anything is left, as single reading, second or
    /// minute; nil where nothing is. Takes as long as what is stored takes, and not the span.
    func firstStored(of meter: MeterID, in span: Range<WallTime>) async throws -> WallTime?
    /// Adds all that the series asks for, from the tier that it names and what is not in that yet.
    func fill(_ series: SeriesBuilder, of meter: MeterID) async throws -> SeriesBuilder
}

/// How long readings are kept, and how finely.
package struct SampleRetention: Hashable, Sendable {
    /// Single readings that came more often than `thinnedRate`.
    package var single: Duration = .seconds(30 * 86_400)
    /// Other single readings, and seconds of those that went.
    package var seconds: Duration = .seconds(400 * 86_400)
    /// Minutes. Hours are kept for ever: 5 kB a day at most.
    package var minutes: Duration = .seconds(1830 * 86_400)

    /// Readings a second. Up to here the single readings take less room than their seconds with minima, maxima, means
    /// and counts would.
    package static let thinnedRate: Int64 = 4

    package init() {}
}

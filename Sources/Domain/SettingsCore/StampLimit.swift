/// Limit for stamps ahead of the cloud's clock: a host years ahead would win every merge for years
/// (Docs/SettingsAndRebuild.md#stamps).
package enum StampLimit {
    /// Milliseconds ahead of the cloud's own clock.
    package static let ahead: UInt64 = 60_000
    /// Milliseconds ahead of the greatest stamp ever accepted, for an overflowing counter. With steps of a second, one
    /// host could move the limit into the future step by step.
    package static let step: UInt64 = 1

    /// Returns the greatest acceptable milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - now: the cloud's wall clock.
    ///   - accepted: the greatest milliseconds that the zone ever accepted; 0 if none.
    package static func latest(now: UInt64, accepted: UInt64) -> UInt64 {
        max(saturatingSum(now, ahead), saturatingSum(accepted, step))
    }

    private static func saturatingSum(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

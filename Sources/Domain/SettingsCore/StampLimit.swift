/// Limit for stamps ahead of the cloud's clock: without it, a host years ahead would win every merge for years
/// (Docs/SettingsAndRebuild.md#stamps).
package enum StampLimit {
    /// Milliseconds by which a stamp may exceed the cloud's wall clock.
    package static let ahead: UInt64 = 60_000
    /// Milliseconds by which a stamp may exceed the greatest stamp ever accepted. A counter overflow needs 1; with
    /// larger steps, one host could quickly move the limit into the future.
    package static let step: UInt64 = 1

    /// Returns the greatest acceptable milliseconds of a stamp.
    ///
    /// - Parameters:
    ///   - now: the cloud's wall clock, in milliseconds since 1970.
    ///   - accepted: the greatest milliseconds that the zone ever accepted; 0 if none.
    package static func latest(now: UInt64, accepted: UInt64) -> UInt64 {
        max(saturatingSum(now, ahead), saturatingSum(accepted, step))
    }

    private static func saturatingSum(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

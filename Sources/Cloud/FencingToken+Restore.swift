package import Domain

extension FencingToken {
    /// Returns the minimum fencing token of a restored store: unix seconds × 2^20, which no cloud reaches by granting.
    /// The maximum is 2^52, reached in the year 2106, so that a wrong wall clock leaves enough tokens.
    package static func floor(ofRestoreAt now: WallTime) -> FencingToken {
        let seconds = UInt64(clamping: now.millisecondsSince1970 / 1000)
        return FencingToken(rawValue: min(seconds, 1 << 32) << 20)
    }
}

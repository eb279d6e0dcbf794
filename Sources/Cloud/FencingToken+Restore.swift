package import LeaseCore
package import MeterModel

extension FencingToken {
    /// Where the tokens of a restored store begin at least: unix seconds × 2^20, which no cloud reaches by granting. At
    /// most 2^52, which is the year 2106, so that a calendar gone wrong leaves as many tokens as it takes.
    package static func floor(ofRestoreAt now: WallTime) -> FencingToken {
        let seconds = UInt64(clamping: now.millisecondsSince1970 / 1000)
        return FencingToken(rawValue: min(seconds, 1 << 32) << 20)
    }
}

/// A point on the boot-time clock, as an offset from an origin the driver chooses.
///
/// Deadlines and ages are computed with this type only. Wall-clock time can jump (a Pi has no clock battery), so it
/// never decides anything; it is for people to read.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    package var sinceOrigin: Duration

    package init(sinceOrigin: Duration) { self.sinceOrigin = sinceOrigin }

    package static let origin = MonotonicTime(sinceOrigin: .zero)

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.sinceOrigin < rhs.sinceOrigin }
    package static func + (lhs: Self, rhs: Duration) -> Self { Self(sinceOrigin: lhs.sinceOrigin + rhs) }
    package static func - (lhs: Self, rhs: Duration) -> Self { Self(sinceOrigin: lhs.sinceOrigin - rhs) }
    package static func - (lhs: Self, rhs: Self) -> Duration { lhs.sinceOrigin - rhs.sinceOrigin }

    /// The earlier of two moments that may not be.
    package static func earliest(_ first: Self?, _ second: Self?) -> Self? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; clamped to what an Int64 holds.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(clamping: Int128(seconds) * 1000 + Int128(attoseconds / 1_000_000_000_000_000))
    }

    /// Nanoseconds, rounded towards zero; clamped to what an Int64 holds.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000))
    }
}

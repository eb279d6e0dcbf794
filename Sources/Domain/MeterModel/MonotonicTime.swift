/// A point on the monotonic clock; the driver chooses the origin.
///
/// Used for all deadlines and ages, because wall-clock time can jump (a Pi has no clock battery).
package struct MonotonicTime: Hashable, Comparable, Sendable {
    package var sinceOrigin: Duration

    package init(sinceOrigin: Duration) { self.sinceOrigin = sinceOrigin }

    package static let origin = MonotonicTime(sinceOrigin: .zero)

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.sinceOrigin < rhs.sinceOrigin }
    package static func + (lhs: Self, rhs: Duration) -> Self { Self(sinceOrigin: lhs.sinceOrigin + rhs) }
    package static func - (lhs: Self, rhs: Duration) -> Self { Self(sinceOrigin: lhs.sinceOrigin - rhs) }
    package static func - (lhs: Self, rhs: Self) -> Duration { lhs.sinceOrigin - rhs.sinceOrigin }

    package static func earliest(_ first: Self?, _ second: Self?) -> Self? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }
}

extension Duration {
    /// Rounded towards zero and clamped to Int64.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(clamping: Int128(seconds) * 1000 + Int128(attoseconds / 1_000_000_000_000_000))
    }

    /// Rounded towards zero and clamped to Int64.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000))
    }
}

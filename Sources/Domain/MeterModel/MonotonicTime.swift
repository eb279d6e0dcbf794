/// A point on the boot-time clock, as an offset from an origin the driver chooses.
///
/// All deadlines and ages use this type. Wall-clock time can jump (a Pi has no clock battery), so it is only for people
/// to read.
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
    /// Whole milliseconds, rounded towards zero and clamped to Int64.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(clamping: Int128(seconds) * 1000 + Int128(attoseconds / 1_000_000_000_000_000))
    }

    /// Nanoseconds, rounded towards zero and clamped to Int64.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000))
    }
}

package import Domain

/// How finely readings are kept once they are older: as they came, or summed up in buckets of one length.
///
/// The raw value is the bucket's length in milliseconds, which is also what the store keeps: append only.
package enum SampleTier: Int64, CaseIterable, Sendable {
    case second = 1000
    case minute = 60_000
    case hour = 3_600_000

    /// Milliseconds that one stored block spans: a multiple of the bucket's length. Long enough that a block is worth a
    /// row, short enough that adding an hour of readings rewrites little.
    package var blockLength: Int64 {
        switch self {
        case .second: 600_000
        case .minute: 3_600_000
        case .hour: 86_400_000
        }
    }

    /// As people and JSON read it.
    package var name: String {
        switch self {
        case .second: "1 s"
        case .minute: "1 min"
        case .hour: "1 h"
        }
    }

    /// Where the bucket begins that a time lies in.
    package func bucket(of time: WallTime) -> WallTime { time.floored(to: rawValue) }

    /// Where the block begins that a time lies in.
    package func block(of time: WallTime) -> WallTime { time.floored(to: blockLength) }
}

extension WallTime {
    /// The latest multiple of `step` milliseconds since 1970 that is not after this.
    ///
    /// - Parameter step: above 0.
    package func floored(to step: Int64) -> WallTime {
        let rest = millisecondsSince1970 % step
        let down = rest < 0 ? rest + step : rest
        let (result, overflow) = millisecondsSince1970.subtractingReportingOverflow(down)
        return WallTime(millisecondsSince1970: overflow ? millisecondsSince1970 : result)
    }
}

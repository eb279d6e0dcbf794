/// Bucket length of aggregated readings, in milliseconds. The store keeps these raw values, so never change or reuse
/// them.
package enum SampleTier: Int64, CaseIterable, Sendable {
    case second = 1000
    case minute = 60_000
    case hour = 3_600_000

    /// Length of a stored block in milliseconds: long enough to be worth a row, short enough that an hour of readings
    /// rewrites little.
    package var blockLength: Int64 {
        switch self {
        case .second: 600_000
        case .minute: 3_600_000
        case .hour: 86_400_000
        }
    }

    /// Name in output and JSON.
    package var name: String {
        switch self {
        case .second: "1 s"
        case .minute: "1 min"
        case .hour: "1 h"
        }
    }

    package func bucket(of time: WallTime) -> WallTime { time.floored(to: rawValue) }

    package func block(of time: WallTime) -> WallTime { time.floored(to: blockLength) }
}

extension WallTime {
    /// Rounds down to a multiple of `step` milliseconds since 1970; `step` must be above 0.
    package func floored(to step: Int64) -> WallTime {
        let rest = millisecondsSince1970 % step
        let down = rest < 0 ? rest + step : rest
        let (result, overflow) = millisecondsSince1970.subtractingReportingOverflow(down)
        return WallTime(millisecondsSince1970: overflow ? millisecondsSince1970 : result)
    }
}

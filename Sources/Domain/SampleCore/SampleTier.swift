/// Resolution of aggregates: the bucket length in milliseconds. Raw values are stored, so never change or reuse them.
package enum SampleTier: Int64, CaseIterable, Sendable {
    case second = 1000
    case minute = 60_000
    case hour = 3_600_000

    /// Block length in milliseconds: long enough to fill a row, short enough that adding an hour of readings rewrites
    /// little.
    package var blockLength: Int64 {
        switch self {
        case .second: 600_000
        case .minute: 3_600_000
        case .hour: 86_400_000
        }
    }

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
    /// - Parameter step: milliseconds, above 0. Steps count from 1970.
    package func floored(to step: Int64) -> WallTime {
        let rest = millisecondsSince1970 % step
        let down = rest < 0 ? rest + step : rest
        let (result, overflow) = millisecondsSince1970.subtractingReportingOverflow(down)
        return WallTime(millisecondsSince1970: overflow ? millisecondsSince1970 : result)
    }
}

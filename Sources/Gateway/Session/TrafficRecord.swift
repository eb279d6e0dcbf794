package import Domain

package struct TrafficRecord: Hashable, Sendable {
    package enum Direction: String, Sendable {
        /// From the meter.
        case inward = "in"
        /// To the meter.
        case outward = "out"
    }

    package var time: MonotonicTime
    package var direction: Direction
    package var bytes: [UInt8]
}

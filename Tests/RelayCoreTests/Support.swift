import Domain

extension MonotonicTime {
    static func seconds(_ seconds: Double) -> Self { Self(sinceOrigin: .milliseconds(Int64(seconds * 1000))) }
}

extension WallTime {
    static let zero = WallTime(millisecondsSince1970: 0)
}

extension TimedReading {
    static func volts(_ volts: Double, at time: MonotonicTime) -> TimedReading {
        var reading = Reading()
        reading[.voltage] = volts
        return TimedReading(wallTime: .zero, time: time, reading: reading)
    }
}

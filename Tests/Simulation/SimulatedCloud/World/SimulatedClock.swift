package import Domain

/// The two clocks of one machine: one that only counts, at a rate of its own, and one that says what time it is and may
/// be wrong by years and step.
package struct SimulatedClock {
    /// Thousandths of the true rate.
    package private(set) var rate: Int64
    private var countedAt: TrueTime = 0
    private var counted: Int64
    /// Milliseconds since 1970 at the origin of the counting clock.
    private var wallOrigin: Int64
    /// The wall clock ticks so coarsely, in milliseconds.
    package let wallTick: Int64
    package private(set) var boot: UInt64 = 1

    /// 2026-11-21T00:00:00Z: what a right clock shows when the simulation begins.
    package static let calendarOrigin: Int64 = 1_795_219_200_000

    package init(rate: Int64, wallError: Int64, wallTick: Int64, counted: Int64 = 5 * .second) {
        self.rate = rate
        self.counted = counted
        self.wallTick = wallTick
        wallOrigin = Self.calendarOrigin + wallError - counted / .millisecond
    }

    package func microseconds(at time: TrueTime) -> Int64 { counted + (time - countedAt) * rate / 1000 }

    package func now(at time: TrueTime) -> MonotonicTime {
        MonotonicTime(sinceOrigin: .microseconds(microseconds(at: time)))
    }

    package func wall(at time: TrueTime) -> WallTime {
        let exact = wallOrigin + microseconds(at: time) / .millisecond
        return WallTime(millisecondsSince1970: exact / wallTick * wallTick)
    }

    /// The true time at which the counting clock shows a moment, at the earliest.
    package func trueTime(of moment: MonotonicTime) -> TrueTime {
        // Up to the next microsecond, so that the moment has surely come.
        let span = moment.sinceOrigin.nanoseconds / 1000 + 1 - counted
        return countedAt + (span * 1000 + rate - 1) / rate
    }

    package mutating func changeRate(to rate: Int64, at time: TrueTime) {
        counted = microseconds(at: time)
        countedAt = time
        self.rate = rate
    }

    /// Somebody tells it what time it is.
    package mutating func setWall(at time: TrueTime) {
        wallOrigin = Self.calendarOrigin + (time - microseconds(at: time)) / .millisecond
    }

    package mutating func stepWall(by milliseconds: Int64) { wallOrigin += milliseconds }

    /// The machine boots: its counting clock begins anew, and its wall clock where the error says.
    package mutating func reboot(wallError: Int64, at time: TrueTime) {
        boot += 1
        counted = 5 * .second
        countedAt = time
        wallOrigin = Self.calendarOrigin + wallError + time / .millisecond - counted / .millisecond
    }
}

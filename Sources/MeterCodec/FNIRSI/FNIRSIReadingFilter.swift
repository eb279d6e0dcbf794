package import Domain

/// Applies `FNIRSIGlitchFilter` to readings from a file.
package struct FNIRSIReadingFilter: Sendable {
    private struct Sample: FNIRSISample {
        let time: WallTime
        private(set) var reading: Reading
        let level: FNIRSIGlitchFilter.Level

        /// - Parameter last: the level that replaces unknown values.
        init(_ time: WallTime, _ reading: Reading, after last: FNIRSIGlitchFilter.Level?) {
            (self.time, self.reading) = (time, reading)
            func steps(_ value: Double?) -> Int? { value.flatMap { Int(exactly: ($0 * 1e5).rounded()) } }
            level = FNIRSIGlitchFilter.Level(
                voltage: steps(reading[.voltage]) ?? last?.voltage ?? 0,
                current: steps(reading[.current]) ?? last?.current ?? 0)
        }

        func with(_ level: FNIRSIGlitchFilter.Level) -> Self {
            var other = self
            if level.voltage != self.level.voltage { other.replace(.voltage, by: level.voltage) }
            if level.current != self.level.current { other.replace(.current, by: level.current) }
            guard reading.supported.contains(.power) else { return other }
            let (voltage, current) = (other.reading[.voltage], other.reading[.current])
            other.reading[.power] = voltage.flatMap { voltage in current.map { voltage * $0 } }
            return other
        }

        private mutating func replace(_ quantity: Quantity, by steps: Int) {
            if reading[quantity] != nil { reading[quantity] = Double(steps) / 1e5 }
        }
    }

    private var neighbours = FNIRSINeighbours<Sample>()
    private var last: (time: WallTime, level: FNIRSIGlitchFilter.Level)?
    private let reach: Int64
    /// Number of samples corrected by their neighbours, or omitted because none confirmed them.
    package private(set) var filtered = 0
    /// Time of the first sample counted in `filtered`.
    package private(set) var first: WallTime?

    /// Longest interval between neighbours in a file of samples: two sample intervals.
    package static let samplesReach = Duration.milliseconds(2 * Int64(FNIRSIUSBPacket.interval_ms))
    /// Longest interval between neighbours in a file of packets. The host may receive a packet up to a second late.
    package static let packetsReach = Duration.seconds(1)

    package init(reach: Duration) { self.reach = reach.milliseconds }

    package mutating func take(_ time: WallTime, _ reading: Reading, _ show: (WallTime, Reading) -> Void) {
        if let last, time.millisecondsSince1970 - last.time.millisecondsSince1970 > reach {
            finish()
            neighbours = FNIRSINeighbours()
        }
        let sample = Sample(time, reading, after: last?.level)
        last = (time, sample.level)
        var found: WallTime?
        neighbours.take(sample) { sample, isReplaced in
            if isReplaced { found = sample.time }
            show(sample.time, sample.reading)
        }
        if let found { count(found) }
    }

    /// Omits and counts a delayed sample, because no neighbour can confirm it.
    package mutating func finish() {
        if let held = neighbours.held { count(held.time) }
    }

    private mutating func count(_ time: WallTime) {
        filtered += 1
        first = first ?? time
    }
}

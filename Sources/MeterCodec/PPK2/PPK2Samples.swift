package import Domain

/// One sample of a PPK2: 14 bits of the converter, 3 of the range, 6 of a counter, 8 of digital inputs
/// (Docs/Protocols/PPK2.md#samples).
package struct PPK2Sample: Hashable, Sendable {
    package static let length = 4
    package static let rangeCount: UInt32 = 5
    package static let counterMask: UInt32 = 0x3F

    package let word: UInt32

    @inline(__always) init(word: UInt32) { self.word = word }

    package init(converter: UInt32, range: UInt32, counter: UInt32, inputs: UInt32 = 0) {
        word = converter & 0x3FFF | (range & 7) << 14 | (counter & Self.counterMask) << 18 | inputs << 24
    }

    @inline(__always) var converter: UInt32 { word & 0x3FFF }
    @inline(__always) var range: UInt32 { word >> 14 & 7 }
    @inline(__always) var counter: UInt32 { word >> 18 & Self.counterMask }
}

/// Smooths the current after a change of the measuring range, because the first samples of a range are spikes
/// (pc-nrfconnect-ppk src/device/serialDevice.ts and ppk2-api-python; ppk2-rs compares the ranges the other way round).
struct PPK2SpikeFilter: Sendable {
    private var average = 0.0
    /// Slower average, for the highest range.
    private var slowAverage = 0.0
    private var lastRange = UInt32.max
    private var left = 0
    private var sameRangeCount = 0

    private static let weight = 0.18
    private static let slowWeight = 0.06
    /// Number of samples to smooth after a change.
    private static let smoothedCount = 3
    private static let highestRange = PPK2Sample.rangeCount - 1

    @inline(__always)
    mutating func filter(_ current: Double, range: UInt32) -> Double {
        guard lastRange != .max else {
            (average, slowAverage, lastRange) = (current, current, range)
            return current
        }
        let before = (average, slowAverage)
        average = Self.weight * current + (1 - Self.weight) * average
        slowAverage = Self.slowWeight * current + (1 - Self.slowWeight) * slowAverage
        guard range != lastRange || left > 0 else { return current }
        if range != lastRange {
            (sameRangeCount, left) = (0, Self.smoothedCount)
        } else {
            sameRangeCount += 1
        }
        lastRange = range
        left -= 1
        guard range == Self.highestRange else { return average }
        if sameRangeCount < 2 { (average, slowAverage) = before }
        return slowAverage
    }
}

/// Mean, minimum and maximum of the samples in a time window, as one reading.
package struct PPK2Window: FrameContent {
    package private(set) var count = 0
    private var sum = 0.0
    private var least = Double.infinity
    private var greatest = -Double.infinity
    /// Number of samples with an impossible current, or lost before or within the window, as far as the six-bit counter
    /// shows.
    private(set) var lost = 0
    /// Number of the sample after the window, from the start of the stream.
    private(set) var end = 0
    /// Number of samples in a full window; 0 before the window begins.
    private(set) var length = 0

    /// Voltage in millivolts that the PPK2 was told to supply; it does not measure it.
    var source_mV: Int?
    package static let sourceKey = "source_mV"

    /// Accepted currents in amperes. A PPK2 measures up to 1 A in one direction; noise may be below zero.
    package static let currents = -0.1...1.5

    var hasBegun: Bool { length > 0 }

    /// - Parameter index: number of the window's first sample.
    mutating func begin(at index: Int, length: Int) { (self.length, end) = (length, (index / length + 1) * length) }

    mutating func lose(_ count: Int) { lost += count }

    @inline(__always)
    mutating func add(_ current: Double) {
        count += 1
        sum += current
        least = Swift.min(least, current)
        greatest = Swift.max(greatest, current)
    }

    package var model: ModelName? { nil }

    package func forEachReading(_ body: (Reading) -> Void) {
        if count > 0 { body(Self.reading(sum / Double(count))) }
    }

    package var spread: ReadingSpread? {
        guard count > 0 else { return nil }
        return ReadingSpread(count: count, least: Self.reading(least), greatest: Self.reading(greatest))
    }

    package var sampleTicks: SampleTicks? {
        guard count > 0 else { return nil }
        let tick = UInt16(truncatingIfNeeded: end / PPK2Decoder.samplesPerMillisecond)
        let step = UInt16(clamping: length / PPK2Decoder.samplesPerMillisecond)
        return SampleTicks(oldest: tick, newest: tick, step: step, count: 1, lost: lost)
    }

    /// Returns a reading of a current in amperes, rounded to a nanoampere: a PPK2 resolves 0.1 to 0.2 µA. There is no
    /// voltage, because a PPK2 does not measure it.
    private static func reading(_ current: Double) -> Reading {
        var reading = Reading()
        reading[.current] = (current * 1e9).rounded() / 1e9 + 0
        return reading
    }

    package var details: [FrameDetail] {
        [FrameDetail("samples", .integer(count)), FrameDetail("lost_samples", .integer(lost))]
            + (source_mV.map { [.told(Self.sourceKey, .integer($0))] } ?? [])
    }
}

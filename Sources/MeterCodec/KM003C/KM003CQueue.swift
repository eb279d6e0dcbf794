package import Domain

/// Sampling rate; the raw value is the index on the wire (Docs/Protocols/KM003C.md#link).
package enum KM003CRate: UInt8, CaseIterable, Sendable {
    case two, ten, fifty, thousand

    package init?(index: UInt16) {
        guard let index = UInt8(exactly: index) else { return nil }
        self.init(rawValue: index)
    }

    /// The vendor's nominal rate; the real rates are 1.8, 9.6, 47 and 956
    /// (Docs/Protocols/KM003C.md#what-becomes-of-the-payloads).
    package var samplesPerSecond: Int {
        switch self {
        case .two: 2
        case .ten: 10
        case .fifty: 50
        case .thousand: 1000
        }
    }

    /// Difference between the sequence numbers of successive samples, in milliseconds.
    package var sequenceStep: UInt16 { UInt16(1000 / samplesPerSecond) }
}

/// One buffered sample, 20 bytes, little-endian (Docs/Protocols/KM003C.md#what-becomes-of-the-payloads).
package struct KM003CQueueSample: Sendable {
    package static let length = 20

    /// Wrapping count of milliseconds.
    package let sequence: UInt16
    /// Marker of unknown meaning; any value is accepted.
    package let marker: UInt16
    package let microvolts: Int32
    let microamperes: Int32
    /// Voltages of CC1, CC2, D+ and D-, in steps that depend on the rate.
    package let lines: InlineArray<4, UInt16>

    package init(_ raw: UnsafeRawBufferPointer, at offset: Int) {
        sequence = raw.u16LE(offset)
        marker = raw.u16LE(offset + 2)
        microvolts = raw.i32LE(offset + 4)
        microamperes = raw.i32LE(offset + 8)
        lines = [raw.u16LE(offset + 12), raw.u16LE(offset + 14), raw.u16LE(offset + 16), raw.u16LE(offset + 18)]
    }

    init(_ raw: UnsafeRawBufferPointer, number: Int) { self.init(raw, at: number * Self.length) }

    var isPlausible: Bool { KM003CADC.isPlausible(microvolts: microvolts, microamperes: microamperes) }

    /// Maximum milliseconds between successive samples in one answer: four steps at the slowest rate.
    static let longestStep: UInt16 = 2000

    /// Returns the offset of the first sample that is impossible by itself or after the previous one, if any.
    ///
    /// - Parameter rate: if known, differences of sequence numbers must be multiples of its step.
    static func implausibleOffset(in samples: UnsafeRawBufferPointer, rate: KM003CRate?) -> Int? {
        let unit = rate?.sequenceStep ?? 1
        var last: UInt16?
        for offset in stride(from: 0, through: samples.count - length, by: length) {
            let sample = Self(samples, at: offset)
            guard sample.isPlausible else { return offset }
            if let last, case let step = sample.sequence &- last {
                guard step > 0, step <= longestStep, step % unit == 0 else { return offset }
            }
            last = sample.sequence
        }
        return nil
    }

    /// - Parameter lineStep: unit of the four lines; nil if unknown.
    package func reading(lineStep: KM003CLineStep?) -> Reading {
        var reading = Reading()
        reading.setElectrical(microvolts: microvolts, microamperes: microamperes)
        // Set each line separately: a list would be allocated for each sample.
        reading[.cc1] = lineStep.flatMap { $0.volts(lines[0]) }
        reading[.cc2] = lineStep.flatMap { $0.volts(lines[1]) }
        reading[.dataPlus] = lineStep.flatMap { $0.volts(lines[2]) }
        reading[.dataMinus] = lineStep.flatMap { $0.volts(lines[3]) }
        return reading
    }
}

/// Unit of a queue sample's four line voltages, by the rate (Docs/Protocols/KM003C.md#what-becomes-of-the-payloads).
package enum KM003CLineStep: Sendable {
    /// 0.1 mV, at 2 samples a second.
    case tenthMillivolt
    /// 1 mV, at all faster rates.
    case millivolt

    package init(_ rate: KM003CRate) { self = rate == .two ? .tenthMillivolt : .millivolt }

    /// Derives the unit: only at 2 samples a second are successive samples always at least 500 ms apart. Nil for fewer
    /// than two samples.
    package init?(sequences message: KM003CMessage) {
        let samples = message.queueSamples
        let steps = zip(samples, samples.dropFirst()).map { $1.sequence &- $0.sequence }
        guard let least = steps.min() else { return nil }
        self = least >= KM003CRate.two.sequenceStep ? .tenthMillivolt : .millivolt
    }

    package var perVolt: Double {
        switch self {
        case .tenthMillivolt: 10_000
        case .millivolt: 1000
        }
    }

    /// Nil for a word that, as a signed number, is up to half a volt below zero: unsigned, it would be about 6 or 65 V,
    /// which no USB line carries.
    func volts(_ word: UInt16) -> Double? {
        word.isBelowZero(byUpTo: UInt16(perVolt / 2)) ? nil : Double(word) / perVolt
    }
}

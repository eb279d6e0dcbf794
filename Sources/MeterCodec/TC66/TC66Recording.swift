/// The answer to `gtrec`: the recording in the meter's memory, not encrypted. It has no count and no end mark
/// (Docs/Protocols/TC66.md#links), so the caller decides when it is complete.
package struct TC66Recording: Hashable, Sendable {
    package static let recordLength = 8
    /// Maximum number of records in a meter.
    package static let longest = 1440

    /// One record, in volts and amperes; nil for a value beyond the limits of `TC66Block`.
    package struct Sample: Hashable, Sendable {
        package var voltage: Double?
        package var current: Double?

        package init(voltage: Double?, current: Double?) {
            self.voltage = voltage
            self.current = current
        }
    }

    /// Samples, oldest first, without timestamps.
    package let samples: [Sample]

    package init(_ bytes: [UInt8]) throws(CodecError) {
        guard bytes.count % Self.recordLength == 0 else { throw .truncated(have: bytes.count) }
        guard bytes.count <= Self.longest * Self.recordLength else { throw .impossibleLength(bytes.count) }
        samples = bytes.withUnsafeBytes { raw in
            stride(from: 0, to: raw.count, by: Self.recordLength).map { offset in
                Sample(
                    voltage: TC66Block.volts(raw.u32LE(offset)), current: TC66Block.amperes(raw.u32LE(offset + 4)))
            }
        }
    }
}

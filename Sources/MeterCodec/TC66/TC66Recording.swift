/// The answer to `gtrec`: what the meter recorded by itself. Plain, without count or end mark; it ends by silence
/// (Docs/Protocols/TC66.md#links), so the caller gathers the bytes and says when they are all there.
package struct TC66Recording: Hashable, Sendable {
    package static let recordLength = 8
    /// No meter keeps more records.
    package static let longest = 1440

    /// One record: volts and amperes.
    package struct Sample: Hashable, Sendable {
        package var voltage: Double
        package var current: Double

        package init(voltage: Double, current: Double) {
            self.voltage = voltage
            self.current = current
        }
    }

    /// Oldest first. The wire carries no times.
    package let samples: [Sample]

    /// Reads a whole recording; no bytes are an empty one.
    package init(_ bytes: [UInt8]) throws(CodecError) {
        guard bytes.count % Self.recordLength == 0 else { throw .truncated(have: bytes.count) }
        guard bytes.count <= Self.longest * Self.recordLength else { throw .impossibleLength(bytes.count) }
        samples = bytes.withUnsafeBytes { raw in
            stride(from: 0, to: raw.count, by: Self.recordLength).map { offset in
                Sample(
                    voltage: Double(raw.u32LE(offset)) / 10_000,
                    current: Double(raw.u32LE(offset + 4)) / 100_000
                )
            }
        }
    }
}

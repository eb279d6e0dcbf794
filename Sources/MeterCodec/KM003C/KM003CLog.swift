package import Domain

/// One entry in the catalogue of the meter's logs: 48 bytes, little-endian (Docs/Protocols/KM003C.md#logs).
package struct KM003CLogEntry: Hashable, Sendable {
    package static let length = 48

    /// Name as the meter shows it; nil if it is not plain text.
    package let name: String?
    package let sampleCount: Int
    package let interval_ms: Int
    /// Flags of unknown meaning.
    package let flags: UInt16
    package let duration_s: Int
    /// Charge with the sign of the current.
    package let charge_uAh: Int
    package let energy_uWh: Int
    /// Offset of the samples in the logs' memory, in bytes.
    package let offset: UInt32

    package init(_ raw: UnsafeRawBufferPointer) {
        name = raw.ascii(0, length: 16)
        sampleCount = Int(raw.u16LE(18))
        interval_ms = Int(raw.u16LE(20))
        flags = raw.u16LE(22)
        duration_s = Int(raw.u32LE(24))
        charge_uAh = Int(raw.i32LE(28))
        energy_uWh = Int(raw.i32LE(32))
        offset = raw.u32LE(36)
    }

    package static func all(in payload: UnsafeRawBufferPointer) -> [KM003CLogEntry] {
        stride(from: 0, through: payload.count - length, by: length).map {
            KM003CLogEntry(UnsafeRawBufferPointer(rebasing: payload[$0..<($0 + length)]))
        }
    }

    /// Nil for a log without samples, or outside the logs' memory.
    package var range: KM003CLogRange? { KM003CLogRange(offset: offset, sampleCount: sampleCount) }
}

extension KM003CLogEntry: CustomStringConvertible {
    package var description: String {
        "\(name ?? "?"): \(sampleCount) samples each \(interval_ms) ms, \(charge_uAh) µAh, \(energy_uWh) µWh"
    }
}

/// One sample of a log, 16 bytes, little-endian (Docs/Protocols/KM003C.md#logs).
package struct KM003CLogSample: Hashable, Sendable {
    package static let length = 16

    package let microvolts: Int32
    let microamperes: Int32
    /// Charge since the start of the log, with the sign of the current.
    package let charge_uAh: Int32
    package let energy_uWh: Int32

    package init(_ raw: UnsafeRawBufferPointer, at offset: Int) {
        microvolts = raw.i32LE(offset)
        microamperes = raw.i32LE(offset + 4)
        charge_uAh = raw.i32LE(offset + 8)
        energy_uWh = raw.i32LE(offset + 12)
    }

    /// Returns the samples, oldest first; ignores a partial one.
    package static func all(in bytes: [UInt8]) -> [KM003CLogSample] {
        bytes.withUnsafeBytes { raw in
            stride(from: 0, through: raw.count - length, by: length).map { KM003CLogSample(raw, at: $0) }
        }
    }

    package var isPlausible: Bool { KM003CADC.isPlausible(microvolts: microvolts, microamperes: microamperes) }

    package var reading: Reading {
        var reading = Reading()
        reading.setElectrical(microvolts: microvolts, microamperes: microamperes)
        reading[.charge] = Double(charge_uAh) / 1000
        reading[.energy] = Double(energy_uWh) / 1e6
        return reading
    }
}

/// Layout of a stored chunk. A change needs a new version number, and old versions must stay readable. Versions 2 and 4
/// are version 1 with more quantities, and are written only for these. Version 3 is another layout (`SampleChunk+Seconds`).
///
/// ```
/// chunk   = version (1 byte) sample* check (FNV-1a of all before it, 4 bytes little-endian)
/// sample  = time changes [shape] value*
/// time    = zigzag: how much longer this step in milliseconds is than the one before (at first the time itself)
/// changes = varint: bit 0 = a shape follows; bit 1 + i = the i-th known quantity differs from the sample before
/// shape   = varint, varint: the sets of supported and of known quantities, valid until the next shape
/// value   = zigzag, never 0: difference of the scaled integer, for each quantity that changed
///         | 0 exponent zigzag: a new scale and the whole integer in it; value = integer / 10^exponent
///         | 0 FF 8 bytes little-endian: a double that no scale gives back bit by bit
/// ```
///
/// Meters send decimals of few digits, so nearly every value is an integer divided by a power of ten, and a step of the
/// last digit takes one byte. With one scale for all quantities, a step of a millivolt would take two bytes.
enum SampleChunkFormat {
    static let version: UInt8 = 1
    /// Version for quantities that version 1 cannot contain.
    static let widerVersion: UInt8 = 2
    /// Version for all quantities that a `Reading` has room for.
    static let widestVersion: UInt8 = 4
    static let checkLength = 4
    static let shapeBit: UInt64 = 1
    static let escape: UInt64 = 0
    static let rawMark: UInt8 = 0xFF
    static let exponentMax: UInt8 = 9
    /// Limit up to which a double represents every integer exactly.
    static let integerMax: Int64 = 1 << 53
    /// Quantities of version 1, one bit each.
    static let quantities: UInt32 = 0xFFFF
    static let widerQuantities: UInt32 = 0x3_FFFF
    static let widestQuantities: UInt32 = 0xFF_FFFF
    static let columnCount = 24
    /// One byte for the time and one for the changes.
    static let sampleLengthMin = 2

    @inline(__always)
    static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

    @inline(__always)
    static func unzigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }

    @inline(__always)
    static func powerOfTen(_ exponent: UInt8) -> Double {
        switch exponent {
        case 0: 1
        case 1: 10
        case 2: 100
        case 3: 1000
        case 4: 10_000
        case 5: 100_000
        case 6: 1_000_000
        case 7: 10_000_000
        case 8: 100_000_000
        default: 1_000_000_000
        }
    }

    /// 32-bit FNV-1a. Detects any change of one byte, and misses other damage once in four billion times.
    static func check(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return hash
    }

    /// Integer that represents `value` exactly in this scale; nil if none.
    @inline(__always)
    static func integer(for value: Double, exponent: UInt8) -> Int64? {
        let power = powerOfTen(exponent)
        let scaled = value * power
        guard scaled.magnitude < Double(integerMax) else { return nil }
        // Fast rounding. The comparison below rejects a wrong result.
        let integer = Int64(scaled + (scaled < 0 ? -0.5 : 0.5))
        return (Double(integer) / power).bitPattern == value.bitPattern ? integer : nil
    }
}

/// Last value of a quantity, to which the next one is relative. Equal in encoder and decoder.
struct SampleColumn {
    var value = 0.0
    /// Last value with a scale, as an integer in that scale.
    var integer: Int64 = 0
    var exponent: UInt8 = 0
}

struct SampleChunkState {
    var time: Int64 = 0
    var step: Int64 = 0
    /// Raw value of a `QuantitySet`.
    var supported: UInt32 = 0
    var known: UInt32 = 0
    var columns = InlineArray<24, SampleColumn>(repeating: SampleColumn())
}

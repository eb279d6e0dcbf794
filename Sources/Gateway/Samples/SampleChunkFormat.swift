/// The layout of a chunk. Stored on people's disks: a change needs a new version number, and the old ones stay readable.
/// Version 2 differs from version 1 in nothing but the quantities that it may name; where those of version 1 do, that is
/// what is written.
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
/// Meters send decimal numbers of few digits, so a value is nearly always an integer over a power of ten, and a step
/// of one in the last digit is one byte. The scale is found per quantity, not fixed by its unit: with millionths for
/// all, a step of a millivolt would take two bytes.
enum SampleChunkFormat {
    static let version: UInt8 = 1
    /// Of chunks with a quantity that version 1 may not name.
    static let widerVersion: UInt8 = 2
    static let checkLength = 4
    static let shapeBit: UInt64 = 1
    static let escape: UInt64 = 0
    static let rawMark: UInt8 = 0xFF
    static let exponentMax: UInt8 = 9
    /// Up to here a double counts every integer.
    static let integerMax: Int64 = 1 << 53
    /// The quantities that a version 1 chunk may name.
    static let quantities: UInt32 = 0xFFFF
    /// Those that a version 2 chunk may name.
    static let widerQuantities: UInt32 = 0x3_FFFF
    /// Room for one value of each quantity.
    static let columnCount = 18
    /// A time and a changes byte.
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

    /// FNV-1a, 32 bits. Any change of one byte changes it; other damage gets past it once in four billion times.
    static func check(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return hash
    }

    /// The integer that gives back exactly `value` in this scale, or nil.
    @inline(__always)
    static func integer(for value: Double, exponent: UInt8) -> Int64? {
        let power = powerOfTen(exponent)
        let scaled = value * power
        guard scaled.magnitude < Double(integerMax) else { return nil }
        // Rounded half away from zero by truncation, which is cheap; a wrong guess only fails the comparison.
        let integer = Int64(scaled + (scaled < 0 ? -0.5 : 0.5))
        return (Double(integer) / power).bitPattern == value.bitPattern ? integer : nil
    }
}

/// What the next value of a quantity is compared with. Writer and reader keep the same.
struct SampleColumn {
    /// The last value, 0 before the first.
    var value = 0.0
    /// The last value that had a scale, in it.
    var integer: Int64 = 0
    var exponent: UInt8 = 0
}

/// What both sides carry from one sample to the next.
struct SampleChunkState {
    var time: Int64 = 0
    var step: Int64 = 0
    /// The raw values of two `QuantitySet`s.
    var supported: UInt32 = 0
    var known: UInt32 = 0
    var columns = InlineArray<18, SampleColumn>(repeating: SampleColumn())
}

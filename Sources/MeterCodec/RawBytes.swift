/// Extracts numbers from raw bytes at any alignment.
///
/// Outside the bytes every number is 0, so that a wrong offset fails a test but never stops the program. Decoders check
/// the frame's length first.
extension UnsafeRawBufferPointer {
    @inline(__always)
    private func load<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type) -> Number {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return 0 }
        return loadUnaligned(fromByteOffset: offset, as: type)
    }

    @inline(__always) package func u8(_ offset: Int) -> UInt8 { load(offset, as: UInt8.self) }
    @inline(__always) func u16BE(_ offset: Int) -> UInt16 { load(offset, as: UInt16.self).bigEndian }
    @inline(__always) package func u16LE(_ offset: Int) -> UInt16 { load(offset, as: UInt16.self).littleEndian }
    @inline(__always) func i16LE(_ offset: Int) -> Int16 { load(offset, as: Int16.self).littleEndian }
    @inline(__always) func u32BE(_ offset: Int) -> UInt32 { load(offset, as: UInt32.self).bigEndian }
    @inline(__always) package func u32LE(_ offset: Int) -> UInt32 { load(offset, as: UInt32.self).littleEndian }
    @inline(__always) package func i32LE(_ offset: Int) -> Int32 { load(offset, as: Int32.self).littleEndian }

    @inline(__always) func u64LE(_ offset: Int) -> UInt64 { load(offset, as: UInt64.self).littleEndian }
    /// Returns an IEEE 754 number of 32 bits, which may be infinite or NaN.
    @inline(__always) func f32LE(_ offset: Int) -> Float { Float(bitPattern: u32LE(offset)) }
    @inline(__always) func f32BE(_ offset: Int) -> Float { Float(bitPattern: u32BE(offset)) }

    @inline(__always) package func u24BE(_ offset: Int) -> UInt32 {
        UInt32(u16BE(offset)) << 8 | UInt32(u8(offset + 2))
    }

    /// Returns `length` bytes as ASCII without trailing zeros; nil if another byte is not printable.
    package func ascii(_ offset: Int, length: Int) -> String? {
        guard offset >= 0, length >= 0, offset <= count - length else { return nil }
        let bytes = self[offset..<(offset + length)]
        let text = bytes.prefix((bytes.lastIndex { $0 != 0 } ?? offset - 1) - offset + 1)
        guard text.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}

extension UnsignedInteger where Self: FixedWidthInteger {
    /// Returns whether the word, interpreted as signed, is from `-most` to -1. Callers treat this as unknown, because
    /// the encoding of negative values is unpublished.
    @inline(__always) func isBelowZero(byUpTo most: Self) -> Bool { self > Self.max - most }

    /// Returns whether the word is at most `max`, or negative as in `isBelowZero`. Decoders reject frames with other
    /// fields.
    @inline(__always) package func isPossible(upTo max: Self, orBelowZeroBy most: Self) -> Bool {
        self <= max || isBelowZero(byUpTo: most)
    }
}

extension [UInt8] {
    package mutating func appendBE(_ value: UInt16) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
    package mutating func appendBE(_ value: UInt32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
    package mutating func appendLE(_ value: UInt16) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
    package mutating func appendLE(_ value: UInt32) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
    package mutating func appendLE(_ value: UInt64) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
    package mutating func appendLE(_ value: Float) { appendLE(value.bitPattern) }
    package mutating func appendLE(_ value: Int32) { appendLE(UInt32(bitPattern: value)) }

    package mutating func appendU24BE(_ value: UInt32) {
        append(UInt8(truncatingIfNeeded: value >> 16))
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }
}

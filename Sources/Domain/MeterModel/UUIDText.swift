/// Reads and writes UUIDs without allocating memory. Synchronisation handles many, because every property's change
/// stamp contains one.
package enum UUIDText {
    package static let length = 36

    /// - Parameter text: `length` bytes.
    package static func write(high: UInt64, low: UInt64, to text: UnsafeMutablePointer<UInt8>) {
        var place = 0
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                text[place] = UInt8(ascii: "-")
                place += 1
            }
            let word = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(truncatingIfNeeded: 60 - (index & 15) * 4)) & 0xF
            text[place] = digit &+ (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            place += 1
        }
    }

    /// - Parameters:
    ///   - text: `length` bytes.
    ///   - inAnyCase: whether to accept capital letters.
    /// - Returns: nil if the text is no UUID.
    package static func read(
        _ text: UnsafePointer<UInt8>, inAnyCase: Bool
    ) -> (high: UInt64, low: UInt64)? {
        let dash = UInt8(ascii: "-")
        guard text[8] == dash, text[13] == dash, text[18] == dash, text[23] == dash else { return nil }
        let raw = UnsafeRawPointer(text)
        func letters(_ place: Int) -> UInt64 {
            UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        }
        func half(_ place: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
        }
        guard let first = digits(letters(0), inAnyCase), let second = digits(half(9) | half(14) << 32, inAnyCase),
            let third = digits(half(19) | half(24) << 32, inAnyCase), let fourth = digits(letters(28), inAnyCase)
        else { return nil }
        return (first << 32 | second, third << 32 | fourth)
    }

    /// Converts eight digits in parallel, one per byte, the first in the lowest byte; nil unless all are digits.
    private static func digits(_ letters: UInt64, _ inAnyCase: Bool) -> UInt64? {
        // In ASCII, bit 6 distinguishes letters from digits.
        let isLetter = letters >> 6 & each(1)
        let letters = inAnyCase ? letters | isLetter << 5 : letters
        let values = (letters & each(0x0F)) &+ isLetter &* 9
        let isAboveNine = (values &+ each(0x80 - 10)) >> 7 & each(1)
        // A byte is no digit if encoding its value gives another byte, or its value is above 15.
        guard values &+ each(0x30) &+ isAboveNine &* 0x27 == letters, values & each(0xF0) == 0 else { return nil }
        var packed = values.byteSwapped
        packed = (packed | packed >> 4) & 0x00FF_00FF_00FF_00FF
        packed = (packed | packed >> 8) & 0x0000_FFFF_0000_FFFF
        return (packed | packed >> 16) & 0xFFFF_FFFF
    }

    private static func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }
}

/// The 36 characters of a UUID, read and written in place: each stamp of each property has one.
package enum UUIDText {
    package static let length = 36

    /// - Parameter text: has room for `length` bytes.
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
    ///   - text: has `length` bytes.
    ///   - inAnyCase: also capital letters, which `write` never writes.
    /// - Returns: nil where they are no UUID.
    package static func read(
        _ text: UnsafePointer<UInt8>, inAnyCase: Bool
    ) -> (high: UInt64, low: UInt64)? {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        for place in 0..<length {
            let byte = text[place]
            if place == 8 || place == 13 || place == 18 || place == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            var digit = byte &- UInt8(ascii: "0")
            if digit > 9 {
                let letter = (inAnyCase ? byte | 0x20 : byte) &- UInt8(ascii: "a")
                guard letter < 6 else { return nil }
                digit = letter + 10
            }
            if place < 18 {
                words.high = words.high << 4 | UInt64(digit)
            } else {
                words.low = words.low << 4 | UInt64(digit)
            }
        }
        return words
    }
}

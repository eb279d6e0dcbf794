import Cryptography
import MeterCodec
import Testing

/// An answer laid out by hand from the table in Docs/Protocols/TC66.md#the-answer, and not by the simulator.
struct TC66Sample {
    var pieces: [[UInt8]]

    /// - Parameter temperature: the sign word and the magnitude.
    init(temperature: (sign: UInt32, magnitude: UInt32) = (0, 27)) {
        pieces = ["pac1", "pac2", "pac3"].map { Array($0.utf8) + [UInt8](repeating: 0, count: 60) }
        pieces[0].replaceSubrange(4..<12, with: Array("TC661.18".utf8))
        put(48_724, at: 12)
        put(0xDEAD_BEEF, at: 40)
        put(40, at: 44)
        put(51_609, at: 48)  // 5.1609 V
        put(1990, at: 52)  // 0.0199 A
        put(1026, at: 56)  // 0.1026 W
        put(2593, at: 68)  // 259.3 ohm: 5.1609 / 0.0199
        put(12, at: 72)
        put(5678, at: 76)
        put(34, at: 80)
        put(91, at: 84)
        put(temperature.sign, at: 88)
        put(temperature.magnitude, at: 92)
        put(281, at: 96)
        put(280, at: 100)
        for place in 0..<2 {
            put(UInt32(Checksum.crc16Modbus(pieces[place].prefix(60))), at: 64 * place + 60)
        }
        put(0x0528, at: 188)  // the published check of an empty pac3
    }

    mutating func put(_ value: UInt32, at offset: Int) {
        for place in 0..<4 {
            pieces[offset / 64][offset % 64 + place] = UInt8(truncatingIfNeeded: value >> UInt32(8 * place))
        }
    }

    /// The same with correct checksums, after values were put into it.
    func sealed() -> TC66Sample {
        var sample = self
        for place in 0..<3 {
            sample.put(UInt32(Checksum.crc16Modbus(pieces[place].prefix(60))), at: 64 * place + 60)
        }
        return sample
    }

    /// The answer as sent over the wire, with its pieces in some order.
    func encrypted(_ order: [Int] = [0, 1, 2]) throws -> [UInt8] {
        try #require(ECBCipher.tc66.encrypt(order.flatMap { pieces[$0] }))
    }
}

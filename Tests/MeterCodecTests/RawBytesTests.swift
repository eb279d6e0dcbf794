import MeterCodec
import Testing

struct RawBytesTests {
    private func ascii(_ bytes: [UInt8], _ offset: Int = 0, length: Int? = nil) -> String? {
        bytes.withUnsafeBytes { $0.ascii(offset, length: length ?? bytes.count) }
    }

    @Test func ascii_isWithoutTrailingZeros_andNothingUnprintable() {
        #expect(ascii(Array("POWER-Z".utf8) + [0, 0]) == "POWER-Z")
        #expect(ascii(Array("TC66".utf8)) == "TC66")
        #expect(ascii([0, 0, 0]) == "")
        #expect(ascii([]) == "")
        #expect(ascii([0xFF, 0x41, 0x42, 0, 0xFF], 1, length: 3) == "AB")
        #expect(ascii([0x41, 0, 0x42]) == nil)
        #expect(ascii([0x41, 0, 0xFF]) == nil)
        #expect(ascii([0x41, 0x7F]) == nil)
    }

    @Test func number_outsideTheBytes_isZero() {
        let words = ([0xFF, 0xFF, 0xFF] as [UInt8]).withUnsafeBytes { bytes in (-3...3).map { bytes.u16LE($0) } }
        #expect(words == [0, 0, 0, 0xFFFF, 0xFFFF, 0, 0])
    }

    @Test func ascii_outsideTheBytes_isNone() {
        #expect(ascii([0x41], 0, length: 2) == nil)
        #expect(ascii([0x41], -1, length: 1) == nil)
        #expect(ascii([0x41], 0, length: -1) == nil)
        #expect(ascii([0x41], 1, length: 0) == "")
    }
}

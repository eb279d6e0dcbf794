import MeterCodec
import Testing

/// Check vectors from public sources (Docs/Protocols), none of them made by this project.
struct ChecksumTests {
    private let digits = Array("123456789".utf8)

    @Test func crc16Modbus_givesThePublishedCheckValue() {
        #expect(Checksum.crc16Modbus(digits) == 0x4B37)
        #expect(Checksum.crc16Modbus(Array("pac3".utf8) + [UInt8](repeating: 0, count: 56)) == 0x0528)
    }

    @Test func crc16Xmodem_givesThePublishedCheckValue() {
        #expect(Checksum.crc16Xmodem(digits) == 0x31C3)
        #expect(Checksum.crc16Xmodem([0xAA, 0x81, 0x00]) & 0xFF == 0xF4)
        #expect(Checksum.crc16Xmodem([0xAA, 0x82, 0x00]) & 0xFF == 0xA7)
    }

    @Test func crc8FNIRSI_givesThePublishedCheckValue() {
        #expect(Checksum.crc8FNIRSI(digits) == 0x4B)
    }

    @Test func crc32_givesThePublishedCheckValue() {
        #expect(Checksum.crc32(digits) == 0xCBF4_3926)
    }
}

/// Checksums of meters' protocols. ChecksumTests contains a check vector for each.
package enum Checksum {
    /// CRC-16/MODBUS: polynomial 8005 reflected, initial FFFF (TC66, Docs/Protocols/TC66.md#the-answer).
    package static func crc16Modbus(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0xFFFF) { crc, byte in
            crc >> 8 ^ modbusTable[Int(truncatingIfNeeded: (crc ^ UInt16(byte)) & 0xFF)]
        }
    }

    /// CRC-16/XMODEM: polynomial 1021, initial 0 (FNIRSI BLE, Docs/Protocols/FNIRSI.md#bluetooth-le).
    package static func crc16Xmodem(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0) { crc, byte in
            crc << 8 ^ xmodemTable[Int(truncatingIfNeeded: (crc >> 8 ^ UInt16(byte)) & 0xFF)]
        }
    }

    /// CRC-8: polynomial 39, initial 42, not reflected, no final xor (FNIRSI USB, Docs/Protocols/FNIRSI.md#commands).
    package static func crc8FNIRSI(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0x42) { crc, byte in fnirsiTable[Int(crc ^ byte)] }
    }

    /// Computes this CRC-8 without an iterator, because FNIRSI USB meters send the most data.
    package static func crc8FNIRSI(_ bytes: UnsafeRawBufferPointer) -> UInt8 {
        fnirsiTable.withUnsafeBufferPointer { table in
            var crc: UInt8 = 0x42
            for byte in bytes { crc = table[Int(crc ^ byte)] }
            return crc
        }
    }

    /// Sum of all bytes, modulo 256 (WITRN, YZXStudio, POWER-Z KM001 Pro).
    static func sum8(_ bytes: UnsafeRawBufferPointer) -> UInt8 { bytes.reduce(0, &+) }

    /// CRC-32 as in Ethernet and zip (KM003C settings, Docs/Protocols/KM003C.md#what-becomes-of-the-payloads).
    package static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(0xFFFF_FFFF) { crc, byte in
            crc >> 8 ^ crc32Table[Int(truncatingIfNeeded: (crc ^ UInt32(byte)) & 0xFF)]
        }
    }

    private static let modbusTable: [UInt16] = table { byte in
        reflected(UInt16(byte), polynomial: 0xA001)
    }

    private static let xmodemTable: [UInt16] = table { byte in
        (0..<8).reduce(UInt16(byte) << 8) { crc, _ in crc << 1 ^ (crc & 0x8000 != 0 ? 0x1021 : 0) }
    }

    private static let fnirsiTable: [UInt8] = table { byte in
        (0..<8).reduce(UInt8(byte)) { crc, _ in crc << 1 ^ (crc & 0x80 != 0 ? 0x39 : 0) }
    }

    private static let crc32Table: [UInt32] = table { byte in
        reflected(UInt32(byte), polynomial: 0xEDB8_8320)
    }

    private static func reflected<Number: FixedWidthInteger>(_ start: Number, polynomial: Number) -> Number {
        (0..<8).reduce(start) { crc, _ in crc >> 1 ^ (crc & 1 != 0 ? polynomial : 0) }
    }

    private static func table<Number>(_ entry: (Int) -> Number) -> [Number] { (0..<256).map(entry) }
}

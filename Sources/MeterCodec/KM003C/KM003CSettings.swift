/// The meter's settings: 180 bytes, little-endian, with two checksums
/// (Docs/Protocols/KM003C.md#what-becomes-of-the-payloads).
package struct KM003CSettings: Hashable, Sendable {
    package static let length = 180
    /// The two parts that a CRC-32 covers, each with the offset of its CRC-32.
    package static let checks: [(range: Range<Int>, offset: Int)] = [(0..<0x5C, 0x5C), (0x60..<0xB0, 0xB0)]

    /// 0 or 1; their meaning is unknown.
    package let language: Int
    package let isUncalibrated: Bool
    package let brightnessPercent: Int
    package let sampleInterval_us: Int
    /// Quarter turns of the screen, 0 to 3.
    package let orientation: Int
    package let mode: Int
    package let page: Int
    /// Nil if it is not plain text.
    package let name: String?

    /// Returns nil unless the payload has the only known length.
    package init?(_ raw: UnsafeRawBufferPointer) {
        guard raw.count == Self.length else { return nil }
        let general = raw.u32LE(0)
        let screen = raw.u32LE(0x60)
        language = Int(general & 1)
        isUncalibrated = general & 4 != 0
        brightnessPercent = Int(general >> 3 & 0x7F)
        sampleInterval_us = Int(raw.u16LE(8))
        orientation = Int(screen & 3)
        mode = Int(screen >> 2 & 3)
        page = Int(screen >> 6 & 15)
        name = raw.ascii(0x70, length: 64)
    }

    /// Returns the first wrong checksum, if any. The payload must have the known length.
    package static func checkError(_ raw: UnsafeRawBufferPointer) -> CodecError? {
        guard raw.count == length else { return nil }
        for (range, offset) in checks {
            let expected = Checksum.crc32(raw[range])
            let found = raw.u32LE(offset)
            if found != expected { return .wrongCheck(expected: expected, found: found) }
        }
        return nil
    }

    package var details: [FrameDetail] {
        [
            FrameDetail("language", .integer(language)),
            FrameDetail("uncalibrated", .flag(isUncalibrated)),
            FrameDetail("brightness_percent", .integer(brightnessPercent)),
            FrameDetail("sample_interval_us", .integer(sampleInterval_us)),
            FrameDetail("orientation", .integer(orientation)),
            FrameDetail("mode", .integer(mode)),
            FrameDetail("page", .integer(page)),
            FrameDetail("name", name.map { .text($0) } ?? .unknown),
        ]
    }
}

import MeterCodec

/// Messages laid out by hand from Docs/Protocols/KM003C.md, and not by the simulator.
enum KM003CSample {
    /// Measurements: 9.000000 V, -1.500000 A, 25.5 C, CC1 1.6500 V, CC2 0.0290 V, D+ 0.6000 V, D- 0.5998 V,
    /// Vdd 3.2405 V, 50 samples a second; averages 9.001 V and -1.499 A.
    static let adcPayload: [UInt8] = [
        0x40, 0x54, 0x89, 0x00, 0xA0, 0x1C, 0xE9, 0xFF,
        0x28, 0x58, 0x89, 0x00, 0x88, 0x20, 0xE9, 0xFF,
        0x10, 0x5C, 0x89, 0x00, 0x70, 0x24, 0xE9, 0xFF,
        0xC0, 0x0C, 0x74, 0x40, 0x22, 0x01, 0x70, 0x17, 0x6E, 0x17, 0x95, 0x7E,
        0x02, 0x80, 0x1D, 0x00, 0x58, 0x02, 0x57, 0x02,
    ]

    /// The answer to `0C 00 02 00`: 52 bytes.
    static let adc: [UInt8] = [0x41, 0x00, 0x82, 0x02, 0x01, 0x00, 0x00, 0x0B] + adcPayload

    /// Made from it as long as the maker's paper says, with both lengths to match.
    static let shortADC: [UInt8] = [0x41, 0x00, 0x42, 0x02, 0x01, 0x00, 0x00, 0x0A] + adcPayload.prefix(40)

    /// Three queue samples at 2 a second, 9.000000 V and -1.500000 A each, lines in steps of 0.1 mV.
    static func queueSamples(sequences: [UInt16]) -> [UInt8] {
        sequences.flatMap { sequence -> [UInt8] in
            [UInt8(truncatingIfNeeded: sequence), UInt8(sequence >> 8), 0x3C, 0x00]
                + [0x40, 0x54, 0x89, 0x00, 0xA0, 0x1C, 0xE9, 0xFF, 0x74, 0x40, 0x22, 0x01, 0x70, 0x17, 0x6E, 0x17]
        }
    }

    /// A queue alone: size 20 and the number of samples, as chunk, in its header.
    static func queue(sequences: [UInt16]) -> [UInt8] {
        [0x41, 0x07, 0x02, 0x02, 0x02, 0x00, UInt8(sequences.count), 0x05] + queueSamples(sequences: sequences)
    }

    /// Measurements and a queue in one message.
    static func adcAndQueue(sequences: [UInt16]) -> [UInt8] {
        [0x41, 0x08, 0x02, 0x05, 0x01, 0x80, 0x00, 0x0B] + adcPayload
            + [0x02, 0x00, UInt8(sequences.count), 0x05] + queueSamples(sequences: sequences)
    }

    /// Settings: language 1, brightness 44 %, a sample every 10 000 us, orientation 3, page 1, name POWER-Z.
    static var settings: [UInt8] {
        var payload = [UInt8](repeating: 0, count: 180)
        payload.replaceSubrange(0..<4, with: [0x61, 0x01, 0x50, 0xF8])
        payload.replaceSubrange(8..<10, with: [0x10, 0x27])
        payload.replaceSubrange(0x60..<0x64, with: [0x43, 0x00, 0x00, 0x00])
        payload.replaceSubrange(0x70..<0x77, with: Array("POWER-Z".utf8))
        for (range, offset) in [(0..<0x5C, 0x5C), (0x60..<0xB0, 0xB0)] {
            let check = Checksum.crc32(payload[range])
            for place in 0..<4 { payload[offset + place] = UInt8(truncatingIfNeeded: check >> UInt32(8 * place)) }
        }
        return [0x41, 0x01, 0x02, 0x0B, 0x08, 0x00, 0x00, 0x2D] + payload
    }

    /// A PD status with one attach event: 18 bytes.
    static let pdAttach: [UInt8] =
        [0x41, 0x94, 0xC2, 0x00, 0x10, 0x00, 0x80, 0x04]
        + [0x10, 0x27, 0x00, 0x00, 0x88, 0x13, 0x00, 0x00, 0x06, 0x02, 0x00, 0x00, 0x45, 0x10, 0x27, 0x00, 0x00, 0x21]

    /// A PD trace, whose size is 0 and whose lists give their lengths as 10 and 5 bytes, and the payload that follows
    /// it.
    static let pdTrace: [UInt8] =
        [0x41, 0x06, 0x82, 0x00, 0x20, 0x80, 0x00, 0x00]
        + [0x0A, 0x12, 0xAB, 0, 0, 0, 0x05, 0xAB, 0, 0, 0, 0x05, 0x76, 0xAB, 0, 0, 0]
        + [0x80, 0x00, 0x00, 0x02, 1, 2, 3, 4, 5, 6, 7, 8]

    /// The catalogue of a meter without logs: a payload of size 0.
    static let noLogs: [UInt8] = [0x41, 0x08, 0xC2, 0xFF, 0x00, 0x02, 0x00, 0x00]

    static let accept: [UInt8] = [0x05, 0x01, 0x00, 0x00]
    static let reject: [UInt8] = [0x06, 0x02, 0x00, 0x00]

    /// The answer to a memory read of 24 bytes at address 0x420, followed by 32 encrypted bytes.
    static let memoryAnswer = memoryAnswer(size: 24)

    static func memoryAnswer(size: UInt32) -> [UInt8] {
        var range: [UInt8] = [0x20, 0x04, 0x00, 0x00]
        range.appendLE(size)
        range += [0xFF, 0xFF, 0xFF, 0xFF]
        range.appendLE(Checksum.crc32(range))
        return [0xC4, 0x02, 0x01, 0x01] + range
    }
    /// Bytes that look like an accept and measurements but are neither.
    static let memory: [UInt8] = Array((accept + adc).prefix(32))
}

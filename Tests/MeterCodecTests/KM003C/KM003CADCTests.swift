import Domain
import MeterCodec
import Testing

/// Which measurements are taken for some, exactly: a payload has no checksum.
struct KM003CADCTests {
    private func implausible(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { KM003CADC($0).implausibleOffset }
    }

    /// Good measurements with these numbers, little-endian, at these offsets.
    private func payload<Value: FixedWidthInteger>(_ values: (value: Value, offset: Int)...) -> [UInt8] {
        var bytes = KM003CSample.adcPayload
        for (value, offset) in values {
            withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
        }
        return bytes
    }

    /// Twice the voltage and eight times the current that the meter is made for.
    @Test(arguments: [(0, 100_000_000), (4, 50_000_000)] as [(Int, Int32)])
    func voltageAndCurrent_areWithinTheirLimits_ofBothSigns(offset: Int, limit: Int32) {
        for sign in [-1, 1] as [Int32] {
            #expect(implausible(payload((sign * limit, offset))) == nil)
            #expect(implausible(payload((sign * (limit + 1), offset))) == 0)
        }
        #expect(implausible(payload((Int32.min, offset))) == 0)
    }

    @Test(arguments: [8, 12])
    func averages_agreeWithTheirTwins_toATenthAndALittle(offset: Int) {
        for sign in [-1, 1] as [Int32] {
            for (one, other) in [(offset, offset + 8), (offset + 8, offset)] {
                for (value, isPlausible) in [(111_111, true), (111_112, false)] as [(Int32, Bool)] {
                    let found = implausible(payload((0, one), (sign * value, other)))
                    #expect(found == (isPlausible ? nil : offset), "\(sign * value)")
                }
            }
        }
    }

    @Test(arguments: [
        (24, -60 * 128, true), (24, -60 * 128 - 1, false), (24, 200 * 128, true), (24, 200 * 128 + 1, false),
        // "Not measured".
        (24, Int(Int16.min), true),
        (34, 20_000, true), (34, 19_999, false), (34, 40_000, true), (34, 40_001, false),
    ])
    func temperatureAndSupply_areWithinTheirLimits(offset: Int, value: Int, isPlausible: Bool) {
        let bytes = payload((UInt16(truncatingIfNeeded: value), offset))
        #expect(implausible(bytes) == (isPlausible ? nil : offset))
    }

    /// Rate and flags in the place of the supply voltage, and no flag in their own: only all of it together.
    @Test func tailThatCameTwoBytesEarly_isFound() {
        for rate in 0..<6 as Range<UInt8> {
            for flags in [0x7F, 0x80, 0x81] as [UInt8] {
                for own in [0x00, 0x7F, 0x80] as [UInt8] {
                    var bytes = KM003CSample.adcPayload
                    bytes.replaceSubrange(34..<38, with: [rate, flags, 0x02, own])
                    let isEarly = rate <= 4 && flags == 0x80 && own < 0x80
                    #expect(implausible(bytes) == (isEarly ? 34 : nil), "\(rate) \(flags) \(own)")
                    #expect(implausible(Array(bytes.prefix(40))) == nil, "\(rate) \(flags) \(own)")
                }
            }
        }
    }

    /// A whole byte in 44 bytes, where a 4 is 10,000 a second (okhsunrog/km003c-rs km003c-lib/src/adc.rs); two bits in 40, below
    /// others that the maker's paper has spare.
    @Test(arguments: [(UInt8(3), 1000 as Int?, 1000), (4, nil, 2), (5, nil, 10), (0x83, nil, 1000), (0xFC, nil, 2)])
    func rate_isAByte_orTwoBits(byte: UInt8, whole: Int?, short: Int) {
        let bytes = payload((byte, 36))
        #expect(bytes.withUnsafeBytes { KM003CADC($0).rate?.samplesPerSecond } == whole)
        #expect(bytes.prefix(40).withUnsafeBytes { KM003CADC($0).rate?.samplesPerSecond } == short)
        let detail = bytes.withUnsafeBytes { KM003CADC($0).details.first { $0.key == "rate_sps" } }
        #expect(detail?.value == whole.map { .integer($0) } ?? .unknown)
    }

    @Test func lengths_areTheShortOne_andThoseFromTheLongOneToTheLongest() {
        #expect((0...80).filter(KM003CADC.isLength) == [40] + Array(44...64))
    }
}

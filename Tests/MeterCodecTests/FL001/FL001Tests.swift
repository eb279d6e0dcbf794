import Domain
import MeterCodec
import MeterSimulator
import Testing

/// No report of a real FL001 Super is public: these are made by the published layout (fqueze/usb-power-profiling
/// usb-power-profiling.js).
struct FL001Tests {
    /// 5.125 V, 0.5 A, 2.5625 W, 0.625 V, 0.5 V, 26.5 °C twice; the CRC was computed outside this program.
    private static let report =
        "00033b40a400003f000000402400003f2000003f00000041d4000041d40000"
        + "01000300000000000000000000000000000000000006010000000000002808"

    private func sealed(_ body: [UInt8]) -> [UInt8] {
        var bytes = body
        bytes.appendLE(Checksum.crc16Modbus(bytes))
        return bytes
    }

    private func report(_ value: Float? = nil, at offset: Int = 3) throws -> [UInt8] {
        var bytes = try hex(Self.report)
        if let value {
            var word: [UInt8] = []
            word.appendBE(value.bitPattern)
            bytes.replaceSubrange(offset..<offset + 4, with: word)
        }
        return sealed(bytes)
    }

    @Test func report_isRead() throws {
        let bytes = try report()
        #expect(bytes.suffix(2) == [0x13, 0x1F])
        let reading = try #require(decodedReadings(bytes, with: FL001Decoder()).first)
        var expected = Reading()
        (expected[.voltage], expected[.current], expected[.power]) = (5.125, 0.5, 2.5625)
        (expected[.dataPlus], expected[.dataMinus], expected[.temperature]) = (0.625, 0.5, 26.5)
        #expect(reading == expected)
        let details = try #require(decodedFrames(bytes, with: FL001Decoder()).first).content.details
        #expect(
            details == [
                FrameDetail("second_temperature_C", .number(26.5)),
                FrameDetail("unknown_hex", .text(String(Self.report.suffix(62)))),
            ])
    }

    /// A value beyond its limits spoils the report, or is unknown alone.
    @Test(arguments: [
        (3, Float(60), false), (3, 60.1, true), (3, -0.2, true), (3, .nan, true), (7, -12, false), (7, 12.1, true),
        (7, .infinity, true), (11, 720, false), (11, -721, true), (15, 10.5, false), (19, .nan, false),
        (23, 151, false), (27, .infinity, false),
    ])
    func values_haveLimits(offset: Int, value: Float, isRefused: Bool) throws {
        var decoder = FL001Decoder()
        decoder.append(try report(value, at: offset))
        switch decoder.next() {
        case .frame(let frame):
            #expect(!isRefused)
            let quantity = [15: Quantity.dataPlus, 19: .dataMinus, 23: .temperature][offset]
            frame.forEachReading { reading in
                if let quantity {
                    #expect(reading[quantity] == nil && reading.supported.contains(QuantitySet(quantity)))
                }
            }
            if offset == 27 { #expect(frame.content.details.first?.value == .unknown) }
        case .skipped(let count, let error):
            #expect(isRefused && count == 64 && error == .implausibleField(offset: offset))
        case nil: Issue.record("nothing")
        }
    }

    @Test func reports_areFoundInAnyPieces_andAmongRubbish() throws {
        DecoderVerifier.verify(
            frames: [try report(), try report(9, at: 3)],
            falseStarts: [[0x00], [0x00, 0x03], [0x00, 0x03, 0x3B, 0x00]],
            longestPending: 63
        ) { FL001Decoder() }
        let damage = CorruptedFrames(of: [try report()], count: 20_000) { FL001Decoder() }
        #expect(damage.falseReadings <= 2 && damage.lost == 0, "\(damage)")
    }

    @Test func simulatedMeter_pushesThirtyASecond_andIsToldNothing() {
        var (meter, driver) = (SimulatedFL001(), FL001Driver(model: .fl001))
        #expect(driver.opening().isEmpty && driver.poll().isEmpty && driver.closing().isEmpty)
        #expect(meter.due(at: .seconds(1)).count == 31)
        #expect(meter.due(at: .seconds(60)).count == 64)
        #expect(meter.nextDue == .milliseconds(60_032))
    }
}

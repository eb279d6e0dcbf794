import MeterCodec
import MeterModel
import MeterSimulator
import Testing

struct UMDecoderTests {
    /// Blocks as the simulator renders them, a few seconds apart.
    private func simulatedBlocks(_ model: ModelName, count: Int = 4) -> [[UInt8]] {
        var meter = SimulatedUM(model: model)
        return (1...count).flatMap { meter.receive([0xF0], at: .seconds(10 * $0)) }
    }

    @Test(arguments: [ModelName.um24c, .um25c, .um34c])
    func blocks_decodeInAnyPieces_andAmongRubbish(model: ModelName) {
        DecoderVerifier.verify(frames: simulatedBlocks(model)) { UMDecoder() }
    }

    /// A worked block by protocols.md 1.3, laid out here by hand and not by the simulator.
    private func workedBlock(word: UInt16, trailer: [UInt8]) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: 130)
        func put(_ bytes: [UInt8], at offset: Int) { block.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        put([UInt8(word >> 8), UInt8(word & 0xFF)], at: 0)
        put([0x13, 0xF2], at: 2)  // 5106
        put([0x02, 0x51], at: 4)  // 593
        put([0x00, 0x01, 0xC5, 0x83], at: 6)  // 116.099 W
        put([0x00, 0x19, 0x00, 0x4D, 0x00, 0x02], at: 10)  // 25 C, 77 F, group 2
        put([0x00, 0x00, 0x04, 0xD2, 0x00, 0x00, 0x16, 0x2E], at: 32)  // group 2: 1234 mAh, 5678 mWh
        put([0x01, 0x0E, 0x00, 0x3C, 0x00, 0x07], at: 96)  // D+ 2.70, D- 0.60, DCP 1.5 A
        put([0x00, 0x01, 0x86, 0x9F], at: 122)  // open
        put(trailer, at: 128)
        return block
    }

    @Test func um25c_hasTenTimesFinerVoltsAndAmperes() throws {
        let readings = decodedReadings(workedBlock(word: 0x09C9, trailer: [0xFF, 0xF1]), with: UMDecoder())

        let reading = try #require(readings.first)
        #expect(reading[.voltage] == 5.106)
        #expect(reading[.current] == 0.0593)
        #expect(reading[.power] == 116.099)
        #expect(reading[.temperature] == 25)
        #expect(reading[.charge] == 1234)
        #expect(reading[.energy] == 5.678)
        #expect(reading[.dataPlus] == 2.7)
        #expect(reading[.dataMinus] == 0.6)
        #expect(reading[.resistance] == 9999.9)
    }

    @Test func um24c_countsHundredthsOfAVolt() throws {
        let readings = decodedReadings(workedBlock(word: 0x0963, trailer: [0xFF, 0xF1]), with: UMDecoder())

        let reading = try #require(readings.first)
        #expect(reading[.voltage] == 51.06)
        #expect(reading[.current] == 0.593)
    }

    @Test func um34c_isProvedByTheXOROfItsCheckedBytes() throws {
        // XOR over the listed positions of this block, computed by hand: 4C C5^... see UMScales.xorPositions.
        var block = workedBlock(word: 0x0D4C, trailer: [0x80, 0x00])
        block[129] = UMScales.xorPositions.reduce(0) { $0 ^ block[$1] }

        #expect(decodedFrames(block, with: UMDecoder()).count == 1)
        block[129] ^= 1
        #expect(decodedFrames(block, with: UMDecoder()).isEmpty)
        #expect(decodedFrames(block, with: UMDecoder(enforcesTrailer: false)).count == 1)
    }

    @Test func wrongTrailer_isNoReading() {
        #expect(decodedFrames(workedBlock(word: 0x09C9, trailer: [0xFF, 0xF0]), with: UMDecoder()).isEmpty)
    }

    @Test func shiftedBlock_isFoundByItsModelWord() {
        let good = simulatedBlocks(.um25c, count: 2)
        // The first block lost its first five bytes on the way.
        let (frames, _) = DecoderVerifier.feed(Array(good[0].dropFirst(5)) + good[1], chunk: 20, to: UMDecoder())
        #expect(frames == [good[1]])
    }

    @Test func modelWordInsideABlock_doesNotMisleadAfterRubbish() {
        let block = simulatedBlocks(.um25c, count: 1)[0]
        let (frames, skipped) = DecoderVerifier.feed([0x09, 0xC9, 0x11] + block, chunk: 133, to: UMDecoder())
        #expect(frames == [block])
        #expect(skipped == 3)
    }

    @Test func details_nameTheChargingMode() throws {
        let frame = try #require(
            decodedFrames(workedBlock(word: 0x09C9, trailer: [0xFF, 0xF1]), with: UMDecoder()).first)
        #expect(frame.content.details.contains(FrameDetail("charging_mode", .text("DCP1.5A"))))
        #expect(frame.content.groups.count == 10)
    }
}

import Domain
import MeterCodec
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
        DecoderVerifier.verify(
            frames: simulatedBlocks(model),
            falseStarts: [[0x09], [0x0D], [0x09, 0x63], [0x09, 0xC9, 0x11], [0x0D, 0x4C, 0x01, 0xF5]],
            longestPending: 129
        ) { UMDecoder() }
        DecoderVerifier.verify(
            frames: simulatedBlocks(model), falseStarts: [[0x0D, 0x4C]], longestPending: 129
        ) { UMDecoder(expecting: model) }
    }

    /// A worked block laid out by hand from Docs/Protocols/UM.md#block, and not by the simulator.
    private func workedBlock(word: UInt16, trailer: [UInt8]) -> [UInt8] {
        // 2034 x 593 steps: 0.1206162 W on a UM25C, a hundred times that on the others; 34.30 ohm on all.
        let power: [UInt8] = word == 0x09C9 ? [0x00, 0x00, 0x00, 0x78] : [0x00, 0x00, 0x2F, 0x1D]
        var block = [UInt8](repeating: 0, count: 130)
        func put(_ bytes: [UInt8], at offset: Int) { block.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        put([UInt8(word >> 8), UInt8(word & 0xFF)], at: 0)
        put([0x07, 0xF2], at: 2)  // 2034
        put([0x02, 0x51], at: 4)  // 593
        put(power, at: 6)
        put([0x00, 0x19, 0x00, 0x4D, 0x00, 0x02], at: 10)  // 25 C, 77 F, group 2
        put([0x00, 0x00, 0x04, 0xD2, 0x00, 0x00, 0x16, 0x2E], at: 32)  // group 2: 1234 mAh, 5678 mWh
        put([0x01, 0x0E, 0x00, 0x3C, 0x00, 0x07], at: 96)  // D+ 2.70, D- 0.60, DCP 1.5 A
        put([0x00, 0x00, 0x01, 0x55, 0x00, 0x00, 0x06, 0xA1], at: 102)  // recorded: 341 mAh, 1697 mWh
        put([0x00, 0x11], at: 110)  // above 0.17 A
        put([0x00, 0x00, 0x0E, 0x3D, 0x00, 0x01], at: 112)  // for 3645 s, and still
        put([0x00, 0x07, 0x00, 0x03], at: 118)  // screen dark after 7 min, brightness 3
        put([0x00, 0x00, 0x01, 0x57, 0x00, 0x05], at: 122)  // 34.3 ohm; screen 5
        put(trailer, at: 128)
        return block
    }

    @Test func um25c_hasTenTimesFinerVoltsAndAmperes() throws {
        let readings = decodedReadings(workedBlock(word: 0x09C9, trailer: [0xFF, 0xF1]), with: UMDecoder())

        let reading = try #require(readings.first)
        #expect(reading[.voltage] == 2.034)
        #expect(reading[.current] == 0.0593)
        #expect(reading[.power] == 0.12)
        #expect(reading[.temperature] == 25)
        #expect(reading[.charge] == 1234)
        #expect(reading[.energy] == 5.678)
        #expect(reading[.dataPlus] == 2.7)
        #expect(reading[.dataMinus] == 0.6)
        #expect(reading[.resistance] == 34.3)
    }

    /// 9999.9 Ω stands for an open circuit (Docs/Protocols/UM.md): nobody measured it.
    @Test func openCircuit_hasNoResistance() throws {
        var block = workedBlock(word: 0x09C9, trailer: [0xFF, 0xF1])
        block.replaceSubrange(4..<10, with: [0, 0, 0, 0, 0, 0])
        block.replaceSubrange(122..<126, with: [0x00, 0x01, 0x86, 0x9F])

        let reading = try #require(decodedReadings(block, with: UMDecoder()).first)

        #expect(reading[.current] == 0)
        #expect(reading[.resistance] == nil)
        #expect(reading.supported.contains(.resistance))
    }

    @Test func um24c_countsHundredthsOfAVolt() throws {
        let readings = decodedReadings(workedBlock(word: 0x0963, trailer: [0xFF, 0xF1]), with: UMDecoder())

        let reading = try #require(readings.first)
        #expect(reading[.voltage] == 20.34)
        #expect(reading[.current] == 0.593)
        #expect(reading[.power] == 12.061)
    }

    @Test func um34c_isProvedByTheXOROfItsCheckedBytes() throws {
        // Computed independently of this code, from the positions that Docs/Protocols/UM.md#block lists.
        var block = workedBlock(word: 0x0D4C, trailer: [0x80, 0x0C])

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

    @Test func details_areEveryFieldThatIsNoReading() throws {
        let frame = try #require(
            decodedFrames(workedBlock(word: 0x09C9, trailer: [0xFF, 0xF1]), with: UMDecoder()).first)

        #expect(
            frame.content.details == [
                FrameDetail("temperature_F", .integer(77)), FrameDetail("selected_group", .integer(2)),
                FrameDetail("charging_mode", .text("DCP1.5A")), FrameDetail("charging_mode_code", .integer(7)),
                FrameDetail("recorder_charge_mAh", .integer(341)), FrameDetail("recorder_energy_mWh", .integer(1697)),
                FrameDetail("recorder_threshold_A", .number(0.17)), FrameDetail("recorder_duration_s", .integer(3645)),
                FrameDetail("recorder_running", .flag(true)), FrameDetail("screen_timeout_min", .integer(7)),
                FrameDetail("brightness", .integer(3)), FrameDetail("screen", .integer(5)),
            ])
        #expect(frame.content.groups.count == 10)
    }

    /// Just outside what each field can hold, as if a byte of another block were there.
    @Test(arguments: [
        (2, 3001), (4, 5001), (10, 29), (10, 200), (12, 70), (14, 10), (96, 3001), (98, 3001), (110, 31), (116, 2),
        (118, 16), (120, 6), (122, 0x10), (126, 10), (6, 3),
    ])
    func impossibleValue_isNoBlock_thoughTheCheckIsRight(offset: Int, word: Int) {
        var block = workedBlock(word: 0x0D4C, trailer: [0x80, 0])
        block[offset] = UInt8(word >> 8)
        block[offset + 1] = UInt8(word & 0xFF)
        block[129] = block.withUnsafeBytes(UMScales.xorCheck)

        var decoder = UMDecoder()
        decoder.append(block)
        guard case .skipped(_, .implausibleField) = decoder.next() else {
            Issue.record("\(word) at \(offset) passed")
            return
        }
    }

    /// Beyond what the model measures, but within the margin.
    @Test(arguments: [
        (0x0963, 3000, 3750, 112_500, 80), (0x09C9, 30_000, 62_500, 187_500, 48), (0x0D4C, 3000, 5000, 150_000, 60),
    ])
    func meterBeyondItsRange_isRead(word: Int, voltage: Int, current: Int, milliwatts: Int, tenthsOfAnOhm: Int) {
        var block = workedBlock(word: UInt16(word), trailer: [0xFF, 0xF1])
        let values = [
            voltage >> 8, voltage & 0xFF, current >> 8, current & 0xFF, 0, milliwatts >> 16, milliwatts >> 8 & 0xFF,
            milliwatts & 0xFF,
        ]
        block.replaceSubrange(2..<10, with: values.map { UInt8($0) })
        block.replaceSubrange(122..<126, with: [0, 0, 0, UInt8(tenthsOfAnOhm)])
        if word == 0x0D4C { block[129] = block.withUnsafeBytes(UMScales.xorCheck) }
        #expect(decodedFrames(block, with: UMDecoder()).count == 1)
    }

    @Test(arguments: [(0, 32), (0, 14), (0, 0), (0xFFFB, 23), (0xFFFB, 0), (27, 81), (20, 68)])
    func cold_isRead_whicheverWayTheMeterSendsIt(celsius: Int, fahrenheit: Int) {
        var block = workedBlock(word: 0x09C9, trailer: [0xFF, 0xF1])
        let words = [celsius >> 8, celsius & 0xFF, fahrenheit >> 8, fahrenheit & 0xFF]
        block.replaceSubrange(10..<14, with: words.map { UInt8($0) })
        #expect(decodedFrames(block, with: UMDecoder()).count == (celsius == 0xFFFB && fahrenheit == 0 ? 0 : 1))
    }

    /// The window of 130 bytes then ends in the next block. The counters are set so that its XOR is right by chance.
    @Test func bytesLostInAUM34C_giveNoFalseReading_whereTheCheckIsRightByChance() {
        var chances = 0
        for lost in 1...20 {
            for offset in 20..<(128 - lost) {
                var first = workedBlock(word: 0x0D4C, trailer: [0x80, 0])
                var second = first
                second[129] = second.withUnsafeBytes(UMScales.xorCheck)
                func stream() -> [UInt8] { Array(first[..<offset]) + Array(first[(offset + lost)...]) + second }
                func window() -> [UInt8] { Array(stream().prefix(130)) }
                // Group 0's charge: byte 19 is one of the checked bytes, and lies before the lost ones.
                let byChance = window()
                first[19] ^= byChance.withUnsafeBytes(UMScales.xorCheck) ^ byChance[129]
                let lossy = window()
                if lossy.withUnsafeBytes(UMScales.xorCheck) == lossy[129] { chances += 1 }

                let (frames, _) = DecoderVerifier.feed(stream(), chunk: 20, to: UMDecoder())
                #expect(frames == [second], "\(lost) lost at \(offset)")
            }
        }
        #expect(chances == (1...20).reduce(0) { $0 + 108 - $1 })
    }

    @Test func linkToOneModel_takesNoOther_fromTheFirstBlockOn() {
        let own = simulatedBlocks(.um25c, count: 2)
        let other = simulatedBlocks(.um34c, count: 3)
        let stream = own[0] + other.flatMap { $0 } + own[1]
        for chunk in [1, 64, stream.count] {
            let (frames, skipped) = DecoderVerifier.feed(stream, chunk: chunk, to: UMDecoder(expecting: .um25c))
            #expect(frames == own)
            #expect(skipped == 3 * 130)
        }
        #expect(DecoderVerifier.feed(stream, chunk: 64, to: UMDecoder()).frames.count == 5)
    }

    @Test func linkToAModelThatAPersonNamedWrongly_isHeldByTheSecondBlock() {
        let own = simulatedBlocks(.um34c, count: 3)
        let other = simulatedBlocks(.um25c, count: 1)
        let stream = own[0] + own[1] + other[0] + own[2]
        let (frames, _) = DecoderVerifier.feed(stream, chunk: 50, to: UMDecoder(expecting: .um25c))
        #expect(frames == own)
    }

    /// Half a model word at the end is waited for, where the link may bring that model.
    @Test(
        arguments: [
            (nil, 0x09, 1), (nil, 0x0D, 1), (nil, 0x63, 0), (.um25c, 0x09, 1), (.um25c, 0x0D, 0), (.um34c, 0x09, 0),
            (.um34c, 0x0D, 1),
        ] as [(ModelName?, UInt8, Int)])
    func halfAModelWord_waits_ifThatModelMayCome(held: ModelName?, half: UInt8, pending: Int) {
        var decoder = UMDecoder(expecting: held)
        if let held { decoder.append(simulatedBlocks(held, count: 1)[0]) }
        while decoder.next() != nil {}
        decoder.append([half])
        while decoder.next() != nil {}
        #expect(decoder.pendingCount == pending)
    }
}

import Domain
import MeterCodec
import MeterSimulator
import Testing

struct FNIRSIBLEDecoderTests {
    /// A frame with its payload laid out by hand from Docs/Protocols/FNIRSI.md#bluetooth-le.
    private func frame(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let head = [0xAA, type, UInt8(payload.count)] + payload
        return head + [UInt8(Checksum.crc16Xmodem(head) & 0xFF)]
    }

    private func content(_ type: UInt8, _ payload: [UInt8]) throws -> any FrameContent {
        try #require(decodedFrames(frame(type, payload), with: FNIRSIBLEDecoder()).first).content
    }

    private func reading(_ type: UInt8, _ payload: [UInt8]) throws -> Reading {
        try #require(decodedReadings(frame(type, payload), with: FNIRSIBLEDecoder()).first)
    }

    private func simulatedFrames() -> [[UInt8]] {
        var meter = SimulatedFNIRSIBLE()
        let info = meter.receive(FNIRSIBLECommand.info.bytes, at: .zero).flatMap { $0 }
        _ = meter.receive(FNIRSIBLECommand.start.bytes, at: .zero)
        let stream = info + meter.due(at: .milliseconds(1000)).flatMap { $0 }
        return DecoderVerifier.feed(stream, chunk: stream.count, to: FNIRSIBLEDecoder()).frames
    }

    @Test func frames_decodeInAnyPieces_andAmongRubbish() {
        let frames = simulatedFrames()
        #expect(Set(frames.map { $0[1] }) == [3, 4, 5, 6, 7, 8])
        // Frames that no simulator sends: the state of a trigger, and the totals of a group.
        let others = [frame(9, [1]), frame(10, [10, 0xA0, 0x86, 0x01, 0x00, 0x20, 0x4E, 0x00, 0x00])]
        DecoderVerifier.verify(frames: frames + others) { FNIRSIBLEDecoder() }
    }

    @Test func type04_isVoltageCurrentAndPower_andNothingElse() throws {
        // 20.2699 V, 2.0098 A, 40.7401 W.
        let reading = try reading(4, [0xCB, 0x17, 0x03, 0, 0x82, 0x4E, 0, 0, 0x69, 0x37, 0x06, 0])
        #expect(reading[.voltage] == 20.2699)
        #expect(reading[.current] == 2.0098)
        #expect(reading[.power] == 40.7401)
        #expect(reading.supported == QuantitySet(.voltage, .current, .power))
    }

    /// 5 V and 1 A are no 12.3456 W, whatever the check byte says.
    @Test func type04_thatContradictsItself_isNoReading() {
        let frame: [UInt8] = [0xAA, 4, 12, 0x50, 0xC3, 0, 0, 0x10, 0x27, 0, 0, 0x40, 0xE2, 1, 0, 0xA7]
        #expect(decodedReadings(frame, with: FNIRSIBLEDecoder()).isEmpty)
    }

    @Test func type05_isResistanceAndTemperature_withItsSign() throws {
        let warm = try reading(5, [0xA9, 0xC9, 0x05, 0, 1, 0x24, 0x01])
        #expect(warm[.resistance] == 37.9305)
        #expect(warm[.temperature] == 29.2)
        #expect(warm.supported == QuantitySet(.resistance, .temperature))
        let frost = try reading(5, [0xA9, 0xC9, 0x05, 0, 0, 0x37, 0x00])
        #expect(frost[.temperature] == -5.5)
    }

    @Test func type06_isTheDataLines_andTheProtocolCode() throws {
        let payload: [UInt8] = [0xE3, 0x0C, 0x58, 0x02, 0x05, 0x00]
        let reading = try reading(6, payload)
        #expect(reading[.dataPlus] == 3.299)
        #expect(reading[.dataMinus] == 0.6)
        #expect(try content(6, payload).details.contains(FrameDetail("protocol_code", .integer(5))))
    }

    @Test func type07_isVoltageAndCurrentInThousandths() throws {
        let reading = try reading(7, [0x2D, 0x4F, 0xD9, 0x07])
        #expect(reading[.voltage] == 20.269)
        #expect(reading[.current] == 2.009)
        #expect(reading.supported == QuantitySet(.voltage, .current))
    }

    @Test func type08_isAGroupsTotals() throws {
        // Group 3: 1.23456 Wh, 0.12345 Ah, 3725 s of recording, 7200 s since it was switched on.
        let payload: [UInt8] = [
            3, 0x40, 0xE2, 0x01, 0, 0x39, 0x30, 0, 0, 0x8D, 0x0E, 0, 0, 0x20, 0x1C, 0, 0,
        ]
        let reading = try reading(8, payload)
        #expect(reading[.energy] == 1.23456)
        #expect(reading[.charge] == 123.45)
        #expect(reading[.duration] == 3725)
        let content = try content(8, payload)
        #expect(content.groups == [GroupTotals(index: 3, charge_mAh: 123.45, energy_mWh: 1234.56)])
        #expect(content.details.contains(FrameDetail("power_on_s", .integer(7200))))
    }

    @Test func type03_isWhoTheMeterIs() throws {
        // Model 58, firmware 1.05, serial 51772, switched on 830 times, 10 groups, group 7.
        let payload: [UInt8] = [58, 0, 105, 0, 0x3C, 0xCA, 0, 0, 0x3E, 0x03, 0, 0, 10, 7]
        let content = try content(3, payload)
        #expect(
            content.device
                == DeviceInfo(model: .fnb58, serial: "51772", firmware: "1.05", powerOnCount: 830))
        #expect(content.details.contains(FrameDetail("group_count", .integer(10))))
        #expect(content.details.contains(FrameDetail("selected_group", .integer(7))))
        #expect(decodedReadings(frame(3, payload), with: FNIRSIBLEDecoder()).isEmpty)
    }

    @Test func model48_namesNoSingleModel() throws {
        let payload: [UInt8] = [48, 0, 110, 0, 0x6C, 0x53, 0, 0, 1, 0, 0, 0, 10, 7]
        #expect(try content(3, payload).device == DeviceInfo(serial: "21356", firmware: "1.10", powerOnCount: 1))
        #expect(try content(3, payload).details.contains(FrameDetail("model_code", .integer(48))))
    }

    @Test func otherType_isAFrameWithItsPayloadInHex() throws {
        let content = try content(0x21, [0xDE, 0xAD])
        #expect(
            content.details == [FrameDetail("frame_type", .integer(0x21)), FrameDetail("payload_hex", .text("dead"))])
        #expect(content.groups.isEmpty)
        #expect(content.device == nil)
    }

    @Test func wrongCheck_isNoFrame_unlessAskedNotToMind() {
        var bytes = frame(7, [0x2D, 0x4F, 0xD9, 0x07])
        bytes[7] ^= 0x10
        #expect(decodedFrames(bytes, with: FNIRSIBLEDecoder()).isEmpty)
        #expect(decodedFrames(bytes, with: FNIRSIBLEDecoder(enforcesCheck: false)).count == 1)
    }

    /// Found by fuzzing: a frame of a known type that started in this one and ended after it hid it, if it had arrived.
    @Test func unknownType_isJudgedTheSame_whetherOrNotMoreHasCome() {
        let whole = frame(0x21, [FNIRSIBLEFrame.startMark, 0x07, 0x04])
        let inner = frame(7, [whole[6], 0, 0, 0])
        let stream = whole + inner.dropFirst(4)
        for chunk in [1, whole.count, stream.count] {
            let (frames, skipped) = DecoderVerifier.feed(stream, chunk: chunk, to: FNIRSIBLEDecoder())
            #expect(frames == [whole])
            #expect(skipped == 4)
        }
    }

    @Test func wrongLengthOfAKnownType_isNoFrame() {
        var decoder = FNIRSIBLEDecoder()
        decoder.append(frame(7, [1, 2, 3, 4, 5]))
        guard case .skipped(_, .impossibleLength(5)) = decoder.next() else {
            Issue.record("a type 07 of five bytes passed")
            return
        }
    }

    @Test func impossibleVoltage_isNoReading() {
        // 188.7437 V.
        let bytes = frame(4, [0xCD, 0xCC, 0x1C, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(decodedFrames(bytes, with: FNIRSIBLEDecoder()).isEmpty)
        #expect(decodedFrames(bytes, with: FNIRSIBLEDecoder(enforcesCheck: false)).isEmpty)
    }

    /// Values that no meter sends, each by one step: 10.501 A in either direction in a 07, 10.5001 A and 1575.0001 W in
    /// a 04; 200.1 degrees in a 05; 10.001 V on D+ and on D- in a 06; 0 and 11 groups in a 03; a
    /// trigger of kind 11.
    @Test(
        arguments: [
            (7, "2d4f0529"), (7, "2d4ffbd6"), (4, "905f0100299a010000000000"), (4, "905f0100d765feff00000000"),
            (4, "905f0100000000007153f000"), (4, "905f0100000000008fac0fff"), (4, "905f01000000008000000000"),
            (5, "a9c9050001d107"), (6, "112758020500"), (6, "580211270500"),
            (3, "3a0069003cca00003e0300000007"), (3, "3a0069003cca00003e0300000b07"), (9, "0b"),
        ] as [(UInt8, String)])
    func impossibleValue_isNoFrame(type: UInt8, payload: String) throws {
        let bytes = try frame(type, hex(payload))
        let good = frame(7, [0x2D, 0x4F, 0xD9, 0x07])
        for enforcesCheck in [true, false] {
            let decoder = FNIRSIBLEDecoder(enforcesCheck: enforcesCheck)
            #expect(DecoderVerifier.feed(bytes + good, chunk: 64, to: decoder).frames == [good])
        }
    }

    /// The greatest values there are, each to its step.
    @Test(
        arguments: [
            (7, "ffff0429"), (7, "0000fcd6"), (4, "60e31600289a01007053f000"), (4, "60e31600d865feff90ac0fff"),
            (5, "a9c9050001d007"), (5, "a9c9050000d007"), (6, "102710270500"), (9, "0a"), (9, "00"),
            (3, "3a0069003cca00003e0300000107"), (3, "3a0069003cca00003e0300000a07"),
        ] as [(UInt8, String)])
    func greatestValue_isAFrame(type: UInt8, payload: String) throws {
        let bytes = try frame(type, hex(payload))
        for enforcesCheck in [true, false] {
            let decoder = FNIRSIBLEDecoder(enforcesCheck: enforcesCheck)
            #expect(DecoderVerifier.feed(bytes, chunk: 64, to: decoder).frames == [bytes])
        }
    }

    @Test func voltageAboveTheGreatest_isNoFrame_byOneStep() throws {
        let bytes = try frame(4, hex("61e316000000000000000000"))
        #expect(decodedFrames(bytes, with: FNIRSIBLEDecoder()).isEmpty)
    }

    @Test(arguments: [1, 7, 20, 500])
    func strayHeadOfAnUnknownType_costsNoFrame(chunk: Int) {
        let good = [
            frame(7, [0x2D, 0x4F, 0xD9, 0x07]), frame(6, [0xE3, 0x0C, 0x58, 0x02, 5, 0]),
            frame(4, [0xCB, 0x17, 0x03, 0, 0x82, 0x4E, 0, 0, 0x69, 0x37, 0x06, 0]),
        ]
        let frames = (0..<20).map { good[$0 % 3] }
        for head: [UInt8] in [[0xAA, 0x55, 0xFF], [0xAA, 0x55, 0x20], [0xAA, 0x55, 0x0C], [0xAA, 0x00, 0x00, 0xAA]] {
            let (found, skipped) = DecoderVerifier.feed(
                head + frames.joined(), chunk: chunk, to: FNIRSIBLEDecoder())
            #expect(found == frames)
            #expect(skipped == head.count)
        }
    }

    @Test func unknownType_isTaken_upToALengthThatNoKnownOneComesNear() throws {
        let longest = frame(0x21, [UInt8](repeating: 1, count: 32))
        let tooLong = frame(0x21, [UInt8](repeating: 1, count: 33))
        #expect(DecoderVerifier.feed(longest, chunk: 5, to: FNIRSIBLEDecoder()).frames == [longest])
        #expect(decodedFrames(tooLong, with: FNIRSIBLEDecoder()).isEmpty)
    }

    @Test func startMarkInsideAPayload_isNoFrame() {
        // D- and the protocol code read AA07 04..: the start of a type 07 inside a good type 06.
        let good = frame(6, [0xE3, 0x0C, 0xAA, 0x07, 0x04, 0xAA])
        let (frames, skipped) = DecoderVerifier.feed(good + good, chunk: 3, to: FNIRSIBLEDecoder())
        #expect(frames == [good, good])
        #expect(skipped == 0)
    }
}

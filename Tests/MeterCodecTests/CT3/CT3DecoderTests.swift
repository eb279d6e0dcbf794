import Domain
import MeterCodec
import Testing

struct CT3DecoderTests {
    /// The two messages that the.engineer (2023-11-26) has published: answers to requests of the maker's program.
    private static let published = [
        "a5180000000a010e8068360100902f0100009001004c0f000000100000a65a", "a5080000000a020e8000000000865a",
    ]

    private func payload(
        id: UInt8 = 2, volts: Float = 5, amperes: Float = -1.5, clock: UInt64 = 1_000_000, middle: Int = 8,
        kind: (UInt8, UInt8, UInt8) = (0x04, 0, 0)
    ) -> [UInt8] {
        var payload: [UInt8] = [kind.0, kind.1, id, kind.2]
        payload.appendLE(volts)
        payload.appendLE(amperes)
        payload += [UInt8](repeating: 0x11, count: middle)
        payload.appendLE(clock)
        return payload
    }

    private func details(_ bytes: [UInt8]) throws -> [FrameDetail] {
        try #require(decodedFrames(bytes, with: CT3Decoder()).first).content.details
    }

    @Test(arguments: published)
    func publishedMessage_isAFrame_withoutAReading(text: String) throws {
        let bytes = try hex(text)
        let frames = decodedFrames(bytes, with: CT3Decoder())
        #expect(frames.count == 1)
        #expect(decodedReadings(bytes, with: CT3Decoder()).isEmpty)
        let payload = Hex.encode(bytes[5..<(bytes.count - 2)])
        #expect(try details(bytes) == [FrameDetail("id", .integer(0x0E)), FrameDetail("payload_hex", .text(payload))])
    }

    @Test func sample_isRead_withItsSign() throws {
        let bytes = CT3Framing.frame(payload())
        let reading = try #require(decodedReadings(bytes, with: CT3Decoder()).first)
        #expect(reading[.voltage] == 5)
        #expect(reading[.current] == -1.5)
        #expect(reading[.power] == -7.5)
        #expect(
            try details(bytes) == [
                FrameDetail("id", .integer(2)), FrameDetail("clock_us", .integer(1_000_000)),
                FrameDetail("unknown_hex", .text("1111111111111111")),
            ])
    }

    @Test(arguments: [(UInt64(0), UInt16(0)), (10_999, 10), (65_535_999, 65_535), (65_536_000, 0), (.max, 42_991)])
    func sample_hasTheMillisecondsOfItsClock(clock: UInt64, tick: UInt16) throws {
        let bytes = CT3Framing.frame(payload(clock: clock))
        let frame = try #require(decodedFrames(bytes, with: CT3Decoder()).first)
        #expect(tick == UInt16(truncatingIfNeeded: clock / 1000))
        #expect(frame.sampleTicks == SampleTicks(oldest: tick, newest: tick, step: 10, count: 1))
        frame.forEachSample { #expect($1 == tick) }
    }

    @Test func power_ofNothing_isPlainZero() throws {
        let bytes = CT3Framing.frame(payload(volts: 0, amperes: -1))
        #expect(try #require(decodedReadings(bytes, with: CT3Decoder()).first)[.power]?.sign == .plus)
    }

    /// Readers take the clock from the end, so the middle may have any length.
    @Test(arguments: [0, 1, 8, 44, 45, 236])
    func middleOfASample_mayHaveAnyLength(length: Int) throws {
        let bytes = CT3Framing.frame(payload(clock: 77, middle: length))
        #expect(decodedReadings(bytes, with: CT3Decoder()).count == 1)
        #expect(try details(bytes).contains(FrameDetail("clock_us", .integer(77))))
    }

    /// Found by the fuzzer: of two frames inside a longer one, the one that ends first counts, however the bytes arrive.
    @Test func framesInsideALongerOne_areTheSame_inAnyPieces() {
        let inner = CT3Framing.frame([1, 2, 3, 4])
        let outer = CT3Framing.frame([9, 9] + inner + [UInt8](repeating: 7, count: 30))
        let bytes = CT3Framing.frame([8, 8, 8] + outer + [UInt8](repeating: 6, count: 60))
        let whole = DecoderVerifier.feed(bytes, chunk: bytes.count, to: CT3Decoder())
        #expect(whole.frames.first == inner)
        for chunk in 1..<bytes.count {
            #expect(DecoderVerifier.feed(bytes, chunk: chunk, to: CT3Decoder()) == whole, "in pieces of \(chunk)")
        }
    }

    /// One byte less than a sample needs, and each of the marks that makes one.
    @Test func otherPayloads_areNoSamples() {
        let short = Array(payload(middle: 0).dropLast())
        #expect(decodedReadings(CT3Framing.frame(short), with: CT3Decoder()).isEmpty)
        for kind in [(0x05, 0, 0), (0x04, 1, 0), (0x04, 0, 1), (0x04, 0, 0x80)] as [(UInt8, UInt8, UInt8)] {
            let bytes = CT3Framing.frame(payload(kind: kind))
            #expect(decodedFrames(bytes, with: CT3Decoder()).count == 1)
            #expect(decodedReadings(bytes, with: CT3Decoder()).isEmpty, "\(kind)")
        }
    }

    @Test(arguments: [
        (Float(52), nil as Int?), (52.01, 9), (-0.1, nil), (-0.11, 9), (.nan, 9), (.infinity, 9),
    ])
    func voltage_hasLimits(volts: Float, offset: Int?) {
        expectRefusal(of: payload(volts: volts), at: offset)
    }

    @Test(arguments: [(Float(12), nil as Int?), (12.01, 13), (-12, nil), (-12.01, 13), (.nan, 13)])
    func current_hasLimits_inBothDirections(amperes: Float, offset: Int?) {
        expectRefusal(of: payload(amperes: amperes), at: offset)
    }

    private func expectRefusal(
        of payload: [UInt8], at offset: Int?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let frame = CT3Framing.frame(payload)
        var decoder = CT3Decoder()
        decoder.append(frame + CT3Framing.frame(self.payload()))
        switch decoder.next() {
        case .frame: #expect(offset == nil, sourceLocation: sourceLocation)
        case .skipped(let count, let error):
            #expect(error == offset.map { .implausibleField(offset: $0) }, sourceLocation: sourceLocation)
            #expect(count == frame.count, sourceLocation: sourceLocation)
        case nil: Issue.record("nothing", sourceLocation: sourceLocation)
        }
        guard case .frame? = decoder.next() else {
            Issue.record("the next frame is lost", sourceLocation: sourceLocation)
            return
        }
    }

    @Test(arguments: [(3, false), (4, true), (64, true), (65, true), (256, true), (257, false), (0, false)])
    func length_hasLimits(length: Int, isTaken: Bool) {
        let bytes = CT3Framing.frame([UInt8](repeating: 9, count: length))
        #expect((decodedFrames(bytes, with: CT3Decoder()).count == 1) == isTaken)
    }

    /// A start mark in front of frames asks for up to 263 bytes: they are not held back.
    @Test(arguments: [[0xA5, 65, 0, 0, 0], [0xA5, 0, 1, 0, 0], [0xA5, 0xFF, 0, 0, 0, 0x04, 0, 2, 0]] as [[UInt8]])
    func strayStartMark_holdsNoFrameBack(head: [UInt8]) {
        let frame = CT3Framing.frame(payload())
        for chunk in [1, 50] {
            let (frames, skipped) = DecoderVerifier.feed(head + frame + frame, chunk: chunk, to: CT3Decoder())
            #expect(frames == [frame, frame])
            #expect(skipped == head.count)
        }
    }

    @Test func lengthOf32Bits_isNoTrap() {
        let bytes: [UInt8] = [0xA5, 0xFF, 0xFF, 0xFF, 0xFF] + CT3Framing.frame(payload())
        #expect(decodedReadings(bytes, with: CT3Decoder()).count == 1)
    }

    @Test func wrongCheck_isRefused_unlessChecksAreOff() {
        var bytes = CT3Framing.frame(payload())
        bytes[bytes.count - 2] ^= 1
        var decoder = CT3Decoder()
        decoder.append(bytes)
        guard case .skipped(_, .wrongCheck)? = decoder.next() else {
            Issue.record("it is taken")
            return
        }
        #expect(decodedReadings(bytes, with: CT3Decoder(enforcesChecks: false)).count == 1)
    }

    @Test func wrongEnd_isRefused_evenThen() {
        var bytes = CT3Framing.frame(payload())
        bytes[bytes.count - 1] = 0
        #expect(decodedFrames(bytes, with: CT3Decoder(enforcesChecks: false)).isEmpty)
    }

    @Test func frames_areFoundInAnyPieces_andAmongRubbish() throws {
        let frames = [
            CT3Framing.frame(payload()), try hex(Self.published[0]), CT3Framing.frame(payload(volts: 9)),
            try hex(Self.published[1]), CT3Framing.frame([1, 7, 3, 0x80]), CT3Framing.frame(payload(middle: 200)),
        ]
        DecoderVerifier.verify(
            frames: frames,
            falseStarts: [
                [0xA5], [0xA5, 0x05, 0, 0, 0], [0xA5, 0x04, 0, 0, 0, 1, 2, 3, 4, 4, 0x5B], [0xA5, 200, 0, 0, 0],
            ],
            longestPending: CT3Framing.payloadLengths.upperBound + CT3Framing.overhead - 1
        ) { CT3Decoder() }
    }

    /// What limits the rate is the XOR: two bytes that change in the same bits keep it.
    @Test func damagedSamples_hardlyEverBecomeFalseValues() {
        let frames = (0..<20).map { step in
            CT3Framing.frame(payload(volts: 5 + Float(step) / 10, clock: UInt64(10_000 * step)))
        }
        let damage = CorruptedFrames(of: frames) { CT3Decoder() }
        #expect(damage.count > 90_000)
        #expect(damage.falseReadings <= 150, "\(damage)")
        #expect(damage.lost == 0, "\(damage)")
    }
}

struct CT3RequestTests {
    /// Built by the published rule, not by this program.
    @Test func requests_haveThePublishedForm() throws {
        #expect(CT3Request.stop.bytes(id: 0) == (try hex("a5 04000000 01070000 06 5a")))
        #expect(CT3Request.start(interval_ms: 10).bytes(id: 1) == (try hex("a5 08000000 01090100 0a000000 03 5a")))
    }
}

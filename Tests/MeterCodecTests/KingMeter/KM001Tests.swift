import Domain
import MeterCodec
import Testing

/// The two samples are those in comments of fqueze/usb-power-profiling usb-power-profiling.js: the only public ones.
struct KM001Tests {
    /// The source gives 37 bytes, and says that the rest is zero but for the last, usually 20.
    private static let km001Pro =
        "aa2562050b01cd274f001d2103000e7a0f0016000000cc00000082274f00b74b0300070101"
        + String(repeating: "00", count: 26) + "20"
    private static let acd15p =
        "aa4062050b00eb01c6a64f00350f0100b68705008f23000039160000cb2d0d005275320090d9b701e89f87020000900a0000fc714e"
        + "00010000002a0100000100"
    /// Between samples of a KM001 Pro.
    private static let idle =
        "aa4062050b" + String(repeating: "00", count: 25) + String(repeating: "17", count: 31)
        + "000000"

    private func reading(_ text: String, _ dialect: KM001Dialect) throws -> Reading {
        try #require(decodedReadings(try hex(text), with: KM001Decoder(dialect)).first)
    }

    private func put(_ value: Int32, at offset: Int, into text: String) throws -> [UInt8] {
        var bytes = try hex(text)
        var word: [UInt8] = []
        word.appendLE(value)
        bytes.replaceSubrange(offset..<offset + 4, with: word)
        return bytes
    }

    // MARK: Samples

    @Test func sampleOfARealKM001Pro_isRead() throws {
        let reading = try reading(Self.km001Pro, .km001Pro)
        #expect(reading[.voltage] == 5.187533)
        #expect(reading[.current] == 0.205085)
        #expect(reading[.power] == 1.014286)
        #expect(reading[.dataPlus] == 0.022)
        #expect(reading[.dataMinus] == 0.204)
        #expect(reading[.temperature] == 26.3)
        #expect(!reading.supported.contains(QuantitySet(.cc1)))

        let frame = try #require(decodedFrames(try hex(Self.km001Pro), with: KM001Decoder(.km001Pro)).first)
        #expect(
            frame.content.details == [
                FrameDetail("second_voltage_V", .number(5.187458)), FrameDetail("second_current_A", .number(0.215991)),
                FrameDetail("unknown_36", .integer(1)), FrameDetail("unknown_63", .integer(0x20)),
            ])
    }

    @Test func sampleOfARealACD15P_isRead() throws {
        let reading = try reading(Self.acd15p, .acd15p)
        #expect(reading[.voltage] == 5.220038)
        #expect(reading[.current] == 0.069429)
        #expect(reading[.power] == 0.362422)
        #expect(reading[.dataPlus] == 0.009103)
        #expect(reading[.dataMinus] == 0.005689)
        #expect(reading[.cc1] == 0.863691)
        #expect(reading[.cc2] == 3.306834)
        #expect(reading[.temperature] == 28.82600)
    }

    @Test func reportBetweenSamples_isAFrameWithoutAReading() throws {
        let idle = try hex(Self.idle)
        #expect(decodedFrames(idle, with: KM001Decoder(.km001Pro)).count == 1)
        #expect(decodedReadings(idle, with: KM001Decoder(.km001Pro)).isEmpty)
        // An ACD15P is not known to send such a one.
        #expect(decodedFrames(idle, with: KM001Decoder(.acd15p)).isEmpty)
    }

    /// Who declared the wrong model gets no readings, and an error that says so.
    @Test func sampleOfTheOtherDialect_isNamed() throws {
        for (text, dialect, mark) in [(Self.acd15p, KM001Dialect.km001Pro, 0x40), (Self.km001Pro, .acd15p, 0x25)] {
            var decoder = KM001Decoder(dialect)
            decoder.append(try hex(text))
            guard case .skipped(_, let error)? = decoder.next() else {
                Issue.record("it is taken")
                continue
            }
            #expect(error == .unknownModel(word: UInt32(mark)))
        }
    }

    /// Of the reports that are no sample, one kind alone is known; the second byte tells it.
    @Test func reportOfAnUnknownKind_isNone() throws {
        var report = try hex(Self.idle)
        for byte in UInt8.min...UInt8.max where byte != 0x40 {
            report[1] = byte
            for dialect in KM001Dialect.allCases {
                #expect(decodedFrames(report, with: KM001Decoder(dialect)).isEmpty, "\(byte)")
            }
        }
    }

    /// A DL24P, with the same USB ids, answers AA 05.
    @Test func answerOfADL24P_isNone() throws {
        let bytes = try hex("aa050105" + String(repeating: "00", count: 60))
        for dialect in KM001Dialect.allCases {
            #expect(decodedFrames(bytes, with: KM001Decoder(dialect)).isEmpty)
        }
    }

    // MARK: What is refused

    @Test(arguments: [
        (6, Int32(60_000_000), nil as Int?), (6, 60_000_001, 6), (6, -100_000, nil), (6, -100_001, 6),
        (10, 12_000_000, 14), (10, 12_000_001, 10), (10, -12_000_001, 10), (10, .min, 10),
        (18, 10_000, nil), (18, 10_001, 18), (18, -10_000, nil), (18, -10_001, 18),
        (22, 10_000, nil), (22, 10_001, 22), (22, -10_001, 22),
    ])
    func valuesOfAKM001Pro_haveLimits(offset: Int, value: Int32, refused: Int?) throws {
        var bytes = try put(value, at: offset, into: Self.km001Pro)
        // Voltages at their limits with a current, a power and a second voltage that fit.
        if offset == 6, refused == nil {
            bytes.replaceSubrange(10..<18, with: [UInt8](repeating: 0, count: 8))
            bytes.replaceSubrange(26..<34, with: bytes[6..<14])
        }
        try expect(bytes, .km001Pro, isRefusedAt: refused)
    }

    @Test(arguments: [
        (20, Int32(10_000_000), nil as Int?), (20, 10_000_001, 20), (24, -10_000_001, 24), (28, 10_000_001, 28),
        (32, 10_000_000, nil), (32, 10_000_001, 32), (36, 150_000_000, nil), (36, 150_000_001, 36),
        (36, -40_000_000, nil), (36, -40_000_001, 36), (8, 60_000_001, 8), (12, 12_000_001, 12),
    ])
    func valuesOfAnACD15P_haveLimits(offset: Int, value: Int32, refused: Int?) throws {
        try expect(try put(value, at: offset, into: Self.acd15p), .acd15p, isRefusedAt: refused)
    }

    @Test(arguments: [(Int16(1500), nil as Int?), (1501, 34), (-400, nil), (-401, 34)])
    func temperatureOfAKM001Pro_hasLimits(tenths: Int16, refused: Int?) throws {
        var bytes = try hex(Self.km001Pro)
        let word = UInt16(bitPattern: tenths)
        bytes.replaceSubrange(34..<36, with: [UInt8(word & 0xFF), UInt8(word >> 8)])
        try expect(bytes, .km001Pro, isRefusedAt: refused)
    }

    /// 10 V and 1 A are 10 W. Of a KM001 Pro a quarter of a watt and 15 % of the greater may be missing or too much, as the
    /// published sample is 5 % off; of an ACD15P 2 mW and 1 %, as its is exact.
    @Test(arguments: [
        (KM001Dialect.km001Pro, Int32(10_000_000), true), (.km001Pro, 8_250_000, true), (.km001Pro, 8_240_000, false),
        (.km001Pro, 12_050_000, true), (.km001Pro, 12_070_000, false), (.km001Pro, -10_000_000, false),
        (.km001Pro, 0, false), (.acd15p, 10_000_000, true), (.acd15p, 9_899_000, true), (.acd15p, 9_897_000, false),
        (.acd15p, 10_103_000, true), (.acd15p, 10_104_000, false), (.acd15p, -10_000_000, false), (.acd15p, 0, false),
    ])
    func power_isNearVoltageTimesCurrent(dialect: KM001Dialect, microwatts: Int32, isTaken: Bool) throws {
        let (text, place) = dialect == .km001Pro ? (Self.km001Pro, 6) : (Self.acd15p, 8)
        var bytes = try hex(text)
        var words: [UInt8] = []
        for value in [10_000_000, 1_000_000, microwatts] { words.appendLE(value) }
        bytes.replaceSubrange(place..<place + 12, with: words)
        if dialect == .km001Pro { bytes.replaceSubrange(26..<34, with: words.prefix(8)) }
        try expect(bytes, dialect, isRefusedAt: isTaken ? nil : place + 8)
    }

    /// 5.187533 V and 0.205085 A: the second ones may be 2 % and 50 mV, and 15 % and 50 mA away.
    @Test(arguments: [
        (26, Int32(5_344_400), true), (26, 5_344_500, false), (26, 5_033_900, true), (26, 5_033_700, false),
        (30, 300_000, true), (30, 300_200, false), (30, 124_400, true), (30, 124_200, false), (30, -205_085, false),
    ])
    func secondVoltageAndCurrent_areNearTheFirst(offset: Int, value: Int32, isTaken: Bool) throws {
        try expect(put(value, at: offset, into: Self.km001Pro), .km001Pro, isRefusedAt: isTaken ? nil : offset)
    }

    /// Bytes 5 to 7 of an ACD15P.
    @Test(arguments: [5, 6, 7])
    func restOfTheMark_isNeeded(offset: Int) throws {
        var bytes = try hex(Self.acd15p)
        bytes[offset] ^= 0x02
        #expect(decodedFrames(bytes, with: KM001Decoder(.acd15p)).isEmpty)
    }

    @Test(arguments: [37, 50, 62])
    func bytesBehindTheValues_areZero(offset: Int) throws {
        var bytes = try hex(Self.km001Pro)
        bytes[offset] = 1
        try expect(bytes, .km001Pro, isRefusedAt: offset)
    }

    @Test func everyByteOfTheMark_isNeeded() throws {
        for (text, dialect) in [(Self.km001Pro, KM001Dialect.km001Pro), (Self.acd15p, .acd15p)] {
            for offset in 0..<5 {
                var bytes = try hex(text)
                bytes[offset] ^= 0x10
                #expect(decodedReadings(bytes, with: KM001Decoder(dialect)).isEmpty, "\(offset)")
            }
        }
        var bytes = try hex(Self.km001Pro)
        bytes[5] = 2
        #expect(decodedReadings(bytes, with: KM001Decoder(.km001Pro)).isEmpty)
    }

    private func expect(
        _ bytes: [UInt8], _ dialect: KM001Dialect, isRefusedAt offset: Int?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var decoder = KM001Decoder(dialect)
        let good = try hex(dialect == .km001Pro ? Self.km001Pro : Self.acd15p)
        decoder.append(bytes + good)
        switch decoder.next() {
        case .frame: #expect(offset == nil, sourceLocation: sourceLocation)
        case .skipped(_, let error):
            #expect(error == offset.map { .implausibleField(offset: $0) }, sourceLocation: sourceLocation)
        case nil: Issue.record("nothing", sourceLocation: sourceLocation)
        }
        var last: [UInt8] = []
        while let step = decoder.next() { if case .frame = step { last = decoder.frameBytes } }
        #expect(last == good, "the next report is lost", sourceLocation: sourceLocation)
    }

    @Test func reports_areFoundInAnyPieces_andAmongRubbish() throws {
        DecoderVerifier.verify(
            frames: [try hex(Self.km001Pro), try hex(Self.idle), try hex(Self.km001Pro)],
            falseStarts: [[0xAA], [0xAA, 0x25], [0xAA, 0x25, 0x62, 0x05], [0xAA, 0xAA, 0x62]], longestPending: 63
        ) { KM001Decoder(.km001Pro) }
        DecoderVerifier.verify(
            frames: [try hex(Self.acd15p), try hex(Self.acd15p)], falseStarts: [[0xAA], [0xAA, 0x40, 0x62]],
            longestPending: 63
        ) { KM001Decoder(.acd15p) }
    }

    /// Without a check sum, a byte that is wrong inside a value and leaves it possible is a false value. USB has a CRC of its
    /// own, so that this is seldom; the number is what stands in Docs/Protocols/KM001.md.
    @Test func damagedReports_becomeFalseValues_asNothingChecksThem() throws {
        let damage = CorruptedFrames(of: [try hex(Self.km001Pro)], count: 100_000) { KM001Decoder(.km001Pro) }
        #expect(damage.count > 80_000)
        #expect(Double(damage.falseReadings) / Double(damage.count) < 0.08, "\(damage)")
        #expect(damage.lost == 0, "\(damage)")
    }

    // MARK: The conversation

    /// By the published rule; the CRC and sums were computed outside this program.
    @Test func requests_haveThePublishedBytes() throws {
        let samples = try hex("55 05 22 05 0B 00 8C DD 57") + [UInt8](repeating: 0, count: 55)
        #expect(KM001Request.samples.bytes(for: .km001Pro) == samples)
        let single = try hex("55 05 22 05 0B 00 8C EE FF") + [UInt8](repeating: 0, count: 55)
        #expect(KM001Request.samples.bytes(for: .acd15p) == single)
        for (rate, number) in [(KM001Request.Rate.every100ms, 1), (.every20ms, 2), (.every10ms, 3), (.every2ms, 4)] {
            let bytes = KM001Request.rate(rate).bytes(for: .km001Pro)
            #expect(Array(bytes.prefix(7)) == [0x55, 0x06, 0x31, 0x1A, 0xB1, 0x01, UInt8(number)])
            #expect(bytes.count == 64)
        }
    }

    @Test func km001Pro_isToldItsPace_andAskedEachSecond() throws {
        var driver = KM001Driver(model: .km001Pro, dialect: .km001Pro)
        #expect(driver.opening().map(\.bytes) == [KM001Request.rate(.every10ms).bytes(for: .km001Pro)])
        #expect(driver.profile.rhythm == .push(expected: .milliseconds(10), keepAlive: .seconds(1)))
        let samples = KM001Request.samples.bytes(for: .km001Pro)
        for _ in 0..<10 {
            #expect(driver.poll() == samples)
            driver.receive(try hex(Self.km001Pro)) { _ in }
        }
    }

    /// Two polls without a sample, and the third tells the pace again; so does the sixth.
    @Test func km001ProThatWasSwitchedOff_isToldItsPaceAgain() throws {
        var driver = KM001Driver(model: .km001Pro, dialect: .km001Pro)
        _ = driver.opening()
        let (samples, pace) = (
            KM001Request.samples.bytes(for: .km001Pro), KM001Request.rate(.every10ms).bytes(for: .km001Pro)
        )
        // The report between samples is no sample.
        let sent = try (1...6).map { _ in
            driver.receive(try hex(Self.idle)) { _ in }
            return driver.poll()
        }
        #expect(sent == [samples, samples, pace, samples, samples, pace])
        driver.receive(try hex(Self.km001Pro)) { _ in }
        #expect((1...3).map { _ in driver.poll() } == [samples, samples, samples])
    }

    @Test(arguments: [ModelName.acd15p, .c13p])
    func acd15p_isAskedForEachSample(model: ModelName) throws {
        var driver = KM001Driver(model: model, dialect: .acd15p)
        #expect(driver.opening().isEmpty)
        #expect(driver.closing().isEmpty)
        #expect(driver.profile.rhythm == .poll(interval: .seconds(1), shortest: .seconds(1)))
        for _ in 0..<5 { #expect(driver.poll() == KM001Request.samples.bytes(for: .acd15p)) }
        #expect(throws: CodecError.unsupportedCommand(.rotate, model: model)) {
            try driver.encode(MeterCommand(.rotate))
        }
    }
}

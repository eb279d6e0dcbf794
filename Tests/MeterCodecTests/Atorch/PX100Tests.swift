import Domain
import MeterCodec
import Testing

/// Bytes from misdoro/Electronic_load_px100 its paper on the PX-100 2.70, and tshaddack/dl24 README.md.
struct PX100Tests {
    // MARK: What is sent

    @Test(arguments: [
        (MeterCommand(.loadOn), "b1b2010100b6"), (MeterCommand(.loadOff), "b1b2010000b6"),
        // 1.23 A is 01 17, as the protocol paper writes it.
        (MeterCommand(.loadCurrent, 1230), "b1b2020117b6"), (MeterCommand(.loadCurrent, 0), "b1b2020000b6"),
        // 0.29 and 0.99: whole steps, where a fraction that is cut off sets 0.28, and one that is rounded alone 1.100.
        (MeterCommand(.loadCurrent, 290), "b1b202001db6"), (MeterCommand(.loadCurrent, 1990), "b1b2020163b6"),
        (MeterCommand(.loadCurrent, 40_000), "b1b2022800b6"), (MeterCommand(.loadCutoff, 3210), "b1b2030315b6"),
        (MeterCommand(.loadCutoff, 200_000), "b1b203c800b6"), (MeterCommand(.loadTimer, 0), "b1b2040000b6"),
        (MeterCommand(.loadTimer, 61), "b1b2040e4cb6"), (MeterCommand(.loadTimer, 1092), "b1b204fff0b6"),
        (MeterCommand(.clearAll), "b1b2050000b6"),
        // What has no order of its own stays a command of the reports' protocol.
        (MeterCommand(.clearEnergy), "ff551102010000000050"), (MeterCommand(.plus), "ff551102330000000002"),
    ])
    func command_hasTheseBytes(command: MeterCommand, bytes: String) throws {
        #expect(try Hex.encode(DL24Driver().encode(command)) == bytes)
    }

    @Test func everyHundredth_isReadBackAsItWasSet() throws {
        for value in UInt16(0)...PX100Order.hundredthsMax {
            let bytes = PX100Order.current(value).bytes
            #expect(bytes[4] < 100)
            #expect(PX100Order(code: bytes[2], bytes[3], bytes[4]) == .current(value))
        }
        // What does not fit is the most that does.
        #expect(PX100Order.cutoff(.max).bytes == PX100Order.cutoff(25_599).bytes)
    }

    @Test(
        arguments: [
            (0x01, 0x01, 0x00, PX100Order.isOn(true)), (0x01, 0x00, 0x00, .isOn(false)), (0x01, 0x02, 0x00, nil),
            (0x01, 0x01, 0x01, nil), (0x02, 0x00, 0x63, .current(99)), (0x02, 0x00, 0x64, nil),
            (0x03, 0xFF, 0x63, .cutoff(25_599)),
            (0x03, 0x00, 0x64, nil), (0x04, 0x01, 0x00, .timer(256)), (0x05, 0x00, 0x00, .resetCounters),
            (0x06, 0x00, 0x00, nil),
            (0x00, 0x00, 0x00, nil), (0x30, 0x00, 0x00, nil),
        ] as [(UInt8, UInt8, UInt8, PX100Order?)])
    func order_isReadAsALoadReadsIt(code: UInt8, high: UInt8, low: UInt8, order: PX100Order?) {
        #expect(PX100Order(code: code, high, low) == order)
    }

    @Test(arguments: [
        (MeterCommand(.loadCurrent, 15), 0...40_000, 10), (MeterCommand(.loadCurrent, 40_010), 0...40_000, 10),
        (MeterCommand(.loadCurrent, -10), 0...40_000, 10), (MeterCommand(.loadCutoff, 200_010), 0...200_000, 10),
        (MeterCommand(.loadTimer, 1093), 0...1092, 1),
    ])
    func numberOutOfRange_isRefused(command: MeterCommand, legal: ClosedRange<Int>, step: Int) {
        #expect(throws: CodecError.commandNumber(command, legal: legal, step: step)) {
            try DL24Driver().encode(command)
        }
    }

    @Test func dcMeter_isNoLoad() {
        for kind in [MeterCommand.Kind.loadOn, .loadOff] {
            #expect(throws: CodecError.unsupportedCommand(kind, model: .atorchDC)) {
                try AtorchDriver(model: .atorchDC).encode(MeterCommand(kind))
            }
        }
    }

    @Test func readBack_namesTheQuery_andTheValueToCome() {
        #expect(PX100Order.isOn(true).readBack?.query == .isOn && PX100Order.isOn(true).readBack?.raw == 1)
        #expect(PX100Order.isOn(false).readBack?.raw == 0)
        #expect(PX100Order.current(123).readBack?.query == .setCurrent && PX100Order.current(123).readBack?.raw == 123)
        #expect(PX100Order.cutoff(280).readBack?.query == .cutoff && PX100Order.cutoff(280).readBack?.raw == 280)
        // Whole minutes: 3725 s are 1:02:05.
        #expect(PX100Order.timer(3725).readBack?.query == .timer && PX100Order.timer(3725).readBack?.raw == 0x01_0200)
        #expect(PX100Order.resetCounters.readBack == nil)
    }

    // MARK: What is heard

    @Test func dialogue_isReadAsItsSourceStates() throws {
        let stream = try hex(
            "b1b2140000b6cacb000018cecfb1b2150000b6cacb000064cecfb1b2130000b6cacb000713cecfb1b2110000b6"
                + "ff55010200003300000000000200000000000000000000000016000007133c00000000e0cacb0013f3cecf")
        var values: [Quantity: Double] = [:]
        for reading in decodedReadings(stream, with: AtorchDecoder(from: .loadAndHost)) {
            reading.forEach { values[$0] = $1 }
        }
        // 24 mAh, 100 mWh, 0:07:19 and 5.107 V, beside the report's 5.1 V, 20 mAh and 0:07:19.
        #expect(values[.charge] == 20 && values[.duration] == 439 && values[.energy] == 0)
        #expect(values[.voltage] == 5.107)
        let answers = decodedFrames(stream, with: AtorchDecoder(from: .loadAndHost)).compactMap { frame in
            if case .other(let answer as PX100Answer) = frame { answer } else { nil }
        }
        #expect(
            answers == [
                .value(24, of: .charge), .value(100, of: .energy), .value(0x07_13, of: .time),
                .value(5107, of: .voltage),
            ])
    }

    @Test func frames_areFound_howeverTheyArrive() throws {
        let frames = try [
            "b1b2110000b6", "cacb0013f3cecf", "b1b2010000b6", "6f", "b1b2300000b6", "b1b2100000b6", "cacb000001cecf",
            "ff551102320000000001", "ff55020101000040",
            "ff55010200003300000000000200000000000000000000000016000007133c00000000e0", "b1b2190000b6",
            "cacb010203cecf",
        ].map { try hex($0) }
        DecoderVerifier.verify(
            frames: frames, falseStarts: [[0xCA], [0xCA, 0x00], [0xB1, 0x00], [0xFF, 0x54]], longestPending: 35
        ) { AtorchDecoder(from: .loadAndHost) }
    }

    @Test func answer_isTakenWholeFirst_whateverIsInside() throws {
        for inner in ["ff5501", "cacb00", "6f6f6f", "b1b211"] {
            var decoder = AtorchDecoder(from: .load)
            decoder.asked = .charge
            decoder.awaitsDone = true
            decoder.append(try hex("cacb\(inner)cecf6f"))
            guard case .frame(.other(let answer as PX100Answer))? = decoder.next() else {
                Issue.record("no answer with \(inner)")
                continue
            }
            #expect(try answer == .value(hex(inner).withUnsafeBytes { $0.u24BE(0) }, of: .charge))
            guard case .frame(.other(let done as PX100Answer))? = decoder.next() else {
                Issue.record("no confirmation after \(inner)")
                continue
            }
            #expect(done == .done)
        }
    }

    @Test func report_isTakenWholeFirst_evenWithAnAnswersBytesInside() throws {
        // A report of 13.4 Wh-tens and so on, with CA CB where its energy is; its check byte is right.
        var body = try hex("010200003300000000000200cacb000000000000000000160000071300")
        body += [UInt8](repeating: 0, count: 32 - body.count + 1)
        let report = [0xFF, 0x55] + body + [AtorchCheck.byte(over: body)]
        var decoder = AtorchDecoder(from: .load)
        decoder.asked = .voltage
        decoder.append(report)
        if case .frame(.atorchReport)? = decoder.next() {} else { Issue.record("no report") }
        #expect(decoder.asked == .voltage)
    }

    @Test func answerThatNobodyWaitsFor_isSkipped_andTheNextIsNot() throws {
        var decoder = AtorchDecoder(from: .load)
        decoder.append(try hex("cacb0013f3cecf"))
        guard case .skipped(7, .unasked)? = decoder.next() else { return #expect(Bool(false), "it is skipped") }
        decoder.asked = .voltage
        decoder.append(try hex("cacb0013f3cecfcacb0013f3cecf"))
        guard case .frame? = decoder.next() else { return #expect(Bool(false), "it is an answer") }
        // One question, one answer.
        guard case .skipped(7, .unasked)? = decoder.next() else { return #expect(Bool(false), "it is skipped") }
    }

    @Test func confirmation_countsOnlyWhileOneIsDue_andOnce() throws {
        var decoder = AtorchDecoder(from: .load)
        decoder.append([0x6F])
        guard case .skipped(1, .noStartMark(0x6F))? = decoder.next() else { return #expect(Bool(false)) }
        decoder.awaitsDone = true
        decoder.append([0x6F, 0x6F])
        guard case .frame? = decoder.next() else { return #expect(Bool(false)) }
        guard case .skipped(1, _)? = decoder.next() else { return #expect(Bool(false)) }
    }

    @Test func wrongTrailer_costsAByte_soThatAnAnswerInsideIsFound() throws {
        for broken in ["cacb00", "cacb0000", "cacb00001300", "cacb000013ce"] {
            var decoder = AtorchDecoder(from: .load)
            decoder.asked = .voltage
            decoder.append(try hex(broken + "cacb0013f3cecf"))
            var found: [PX100Answer] = []
            while let step = decoder.next() {
                if case .frame(.other(let answer as PX100Answer)) = step { found.append(answer) }
            }
            #expect(found == [.value(5107, of: .voltage)], "\(broken)")
        }
    }

    @Test(
        arguments: [
            (PX100Query.isOn, 1, 2), (.voltage, 400_000, 400_001), (.current, 80_000, 80_001), (.temperature, 200, 201),
            (.setCurrent, 25_599, 25_600), (.cutoff, 25_599, 25_600), (.time, 0x00_3B3B, 0x00_3C00),
            (.time, 0xFF_0000, 0x00_003C),
            (.timer, 0x00_3B3B, 0x00_3C00),
        ] as [(PX100Query, UInt32, UInt32)])
    func valueThatNoLoadHas_isSkipped(query: PX100Query, most: UInt32, tooMuch: UInt32) throws {
        for (value, isAnswer) in [(most, true), (tooMuch, false)] {
            var decoder = AtorchDecoder(from: .load)
            decoder.asked = query
            var bytes: [UInt8] = [0xCA, 0xCB]
            bytes.appendU24BE(value)
            decoder.append(bytes + [0xCE, 0xCF])
            switch decoder.next() {
            case .frame: #expect(isAnswer, "\(query) \(value)")
            case .skipped(7, .implausibleField(offset: 2)): #expect(!isAnswer, "\(query) \(value)")
            default: Issue.record("\(query) \(value)")
            }
        }
        #expect(PX100Query.charge.allows(0xFF_FFFF) && PX100Query.energy.allows(0xFF_FFFF))
    }

    @Test(
        arguments: [
            (PX100Query.isOn, 1, 1), (.voltage, 5107, 5.107), (.current, 396, 0.396), (.time, 0x01_0203, 3723),
            (.charge, 24, 24), (.energy, 100, 0.1), (.temperature, 23, 23), (.setCurrent, 99, 0.99),
            (.cutoff, 280, 2.8),
            (.timer, 0x02_1E00, 9000),
        ] as [(PX100Query, UInt32, Double)])
    func value_isInTheUnitsOfPeople(query: PX100Query, raw: UInt32, value: Double) {
        #expect(query.value(of: raw) == value)
    }

    @Test func times_areHoursMinutesSeconds() {
        for seconds in [0, 59, 60, 3599, 3600, 86_399, 255 * 3600] as [UInt32] {
            #expect(PX100.seconds(PX100.time(seconds)) == seconds)
        }
        #expect(PX100.time(256 * 3600 + 61) == 0xFF_0101)
    }

    @Test func plainMeter_hasNoAnswers() throws {
        var decoder = AtorchDecoder()
        decoder.asked = .voltage
        decoder.append(try hex("cacb0013f3cecf"))
        guard case .skipped(7, .noStartMark(0xCA))? = decoder.next() else { return #expect(Bool(false)) }
    }

    // MARK: Beside the reports

    /// A report has steps of 0.1 V, 1 mA, 10 mAh and 10 Wh, rounded down, and is up to a second old.
    @Test(
        arguments: [
            (PX100Query.voltage, 51, 5100 - 159...5200 + 159), (.voltage, 1, 50...250), (.voltage, 16, 1550...1750),
            (.voltage, 17, 1647...1853), (.current, 0, -20...21), (.current, 640, 620...661),
            (.current, 672, 651...694),
            (.charge, 3, 10...60), (.energy, 2, 19_500...30_500), (.temperature, 22, 20...25), (.time, 61, 59...64),
        ] as [(PX100Query, UInt16, ClosedRange<Int>)])
    func answer_agreesWithAReport_withinItsStepAndALittle(query: PX100Query, raw: UInt16, range: ClosedRange<Int>) {
        #expect(query.range(in: report(query, raw)) == range)
    }

    @Test(arguments: [PX100Query.isOn, .setCurrent, .cutoff, .timer])
    func whatNoReportHas_agreesWithAny(query: PX100Query) {
        #expect(query.range(in: report(.voltage, 51)) == nil)
    }

    /// A report of a load that has this number in this field, and zeros (Docs/Protocols/Atorch.md#reports).
    private func report(_ query: PX100Query, _ raw: UInt16) -> AtorchReport {
        var bytes = [UInt8](repeating: 0, count: AtorchReport.length)
        bytes.replaceSubrange(0..<4, with: [0xFF, 0x55, 0x01, 0x02])
        let end: Int? =
            switch query {
            case .voltage: 7
            case .current: 10
            case .charge: 13
            case .energy: 17
            case .temperature: 26
            default: nil
            }
        if let end {
            bytes.replaceSubrange(end - 2..<end, with: [UInt8(raw >> 8), UInt8(truncatingIfNeeded: raw)])
        } else {
            bytes.replaceSubrange(28..<30, with: [UInt8(raw / 60), UInt8(raw % 60)])
        }
        return bytes.withUnsafeBytes { AtorchReport($0, type: .dc) }
    }
}

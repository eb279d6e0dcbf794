import Domain
import MeterCodec
import Testing

struct TC66DecoderTests {
    @Test func answers_decodeInAnyPieces_andAmongRubbish() throws {
        let frames = try [TC66Sample().encrypted(), Array("firm".utf8), TC66Sample(temperature: (1, 3)).encrypted()]
        DecoderVerifier.verify(frames: frames) { TC66Decoder() }
    }

    @Test func answer_holdsWhatTheTableSays() throws {
        let frame = try #require(decodedFrames(TC66Sample().encrypted(), with: TC66Decoder()).first)
        let reading = try #require(decodedReadings(TC66Sample().encrypted(), with: TC66Decoder()).first)

        #expect(reading[.voltage] == 5.1609)
        #expect(reading[.current] == 0.0199)
        #expect(reading[.power] == 0.1026)
        #expect(reading[.resistance] == 259.3)
        // Which of the two groups counts is not known yet.
        #expect(reading[.charge] == nil && reading[.energy] == nil)
        #expect(reading.supported.isSuperset(of: QuantitySet(.charge, .energy)))
        #expect(reading[.temperature] == 27)
        #expect(reading[.dataPlus] == 2.81)
        #expect(reading[.dataMinus] == 2.8)
        #expect(
            frame.content.groups == [
                GroupTotals(index: 0, charge_mAh: 12, energy_mWh: 5678),
                GroupTotals(index: 1, charge_mAh: 34, energy_mWh: 91),
            ])
        #expect(
            frame.content.device == DeviceInfo(serial: "48724", firmware: "1.18", powerOnCount: 40))
        #expect(
            frame.content.details.contains(
                FrameDetail("unknown_16_43", .text(String(repeating: "0", count: 48) + "efbeadde"))))
    }

    @Test(
        arguments: [
            (0, 27, TemperatureUnit.celsius, 27.0), (1, 5, .celsius, -5), (0, 77, .fahrenheit, 25),
            (0, 0, .fahrenheit, -17.8),
            (1, 40, .fahrenheit, -40), (0, 400, .celsius, 400), (0, 401, .celsius, nil),
            (0, 4_294_967_295, .celsius, nil),
            (2, 5, .celsius, nil), (4_294_967_295, 5, .celsius, nil),
        ] as [(UInt32, UInt32, TemperatureUnit, Double?)])
    func temperature_isSignedAndInCelsius(sign: UInt32, magnitude: UInt32, unit: TemperatureUnit, celsius: Double?)
        throws
    {
        let bytes = try TC66Sample(temperature: (sign, magnitude)).encrypted()
        let reading = try #require(decodedReadings(bytes, with: TC66Decoder(temperatureUnit: unit)).first)
        #expect(reading[.temperature] == celsius)
    }

    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0]])
    func pieces_makeOneAnswer_inAnotherOrder(order: [Int]) throws {
        let sample = TC66Sample()
        let expected = try #require(decodedReadings(sample.encrypted(), with: TC66Decoder()).first)
        #expect(try decodedReadings(sample.encrypted(order), with: TC66Decoder()) == [expected])
    }

    @Test(arguments: [[2], [1, 2]])
    func endOfAnAnswer_isNotJoinedToTheNext(lost: [Int]) throws {
        var old = TC66Sample(temperature: (0, 99))
        old.put(1, at: 72)
        let good = try TC66Sample().encrypted()

        let (frames, skipped) = try DecoderVerifier.feed(
            old.encrypted(lost) + good + good, chunk: 64, to: TC66Decoder())

        #expect(frames == [good, good])
        #expect(skipped == 64 * lost.count)
    }

    @Test(arguments: 0..<3)
    func wrongCheck_isNoReading_andCostsItsAnswerOnly(piece: Int) throws {
        var broken = TC66Sample()
        broken.put(0x1234, at: 64 * piece + 60)
        let good = try TC66Sample().encrypted()

        let (frames, skipped) = try DecoderVerifier.feed(broken.encrypted() + good, chunk: 64, to: TC66Decoder())

        #expect(frames == [good])
        #expect(skipped == 192)
        #expect(try decodedFrames(broken.encrypted(), with: TC66Decoder(enforcesChecks: false)).count == 1)
    }

    /// Whichever end of an answer is missing, the next whole one is read, and no more than the rest is skipped.
    @Test(arguments: [1, 15, 16, 17, 63, 64, 65, 96, 127, 128, 129, 176, 177, 191], [true, false])
    func partOfAnAnswer_doesNotTakeTheNextWithIt(length: Int, isStart: Bool) throws {
        let whole = try later.encrypted()
        let part = isStart ? whole.prefix(length) : whole.suffix(length)
        let good = try TC66Sample().encrypted()
        for chunk in [1, 50, 500] {
            let (frames, skipped) = DecoderVerifier.feed(part + good, chunk: chunk, to: TC66Decoder())
            #expect(frames == [good] && skipped == length, "in pieces of \(chunk): \(frames.count), \(skipped)")
        }
    }

    /// It takes 16 bytes to see whether a piece starts: of noise the last 15 wait for more.
    @Test func noise_isSkipped_butForItsLast15Bytes() {
        let skipped = (0...40).map { length in
            DecoderVerifier.feed([UInt8](repeating: 0x55, count: length), chunk: 100, to: TC66Decoder()).skipped
        }
        #expect(skipped == (0...40).map { max(0, $0 - 15) })
    }

    @Test func otherProduct_isNoStart() throws {
        var sample = TC66Sample()
        sample.pieces[0].replaceSubrange(4..<8, with: Array("TC99".utf8))
        #expect(try decodedFrames(sample.encrypted(), with: TC66Decoder()).isEmpty)
    }

    /// A word is read at once: it does not wait for the length of a whole answer.
    @Test func query_isAnswered_rightBehindAnAnswer() throws {
        let answer = try TC66Sample().encrypted()
        let firm = Array("firm".utf8)
        let (frames, skipped) = DecoderVerifier.feed(answer + [0] + firm, chunk: 500, to: TC66Decoder())
        #expect((frames, skipped) == ([answer, firm], 1))
    }

    @Test func query_saysWhichProgramRuns() throws {
        for (text, mode) in [("firm", TC66Mode.firmware), ("boot", .boot)] {
            let frame = try #require(decodedFrames(Array(text.utf8), with: TC66Decoder()).first)
            guard case .tc66(.mode(let found)) = frame else {
                Issue.record("\(text) is not a mode")
                continue
            }
            #expect(found == mode)
            #expect(frame.content.details == [FrameDetail("mode", .text(text))])
        }
    }

    @Test func recording_isPlainRecordsOfEightBytes() throws {
        // 5.0000 V, 1.00000 A; 20.1234 V, 0.00001 A.
        let recording = try TC66Recording(hex("50c30000 a0860100 12120300 01000000"))
        #expect(recording.samples == [.init(voltage: 5, current: 1), .init(voltage: 20.1234, current: 0.00001)])
        #expect(try TC66Recording([]).samples.isEmpty)
        #expect(try TC66Recording([UInt8](repeating: 0, count: 11_520)).samples.count == 1440)
        #expect(throws: CodecError.truncated(have: 7)) { try TC66Recording([UInt8](repeating: 0, count: 7)) }
        #expect(throws: CodecError.impossibleLength(11_528)) { try TC66Recording([UInt8](repeating: 0, count: 11_528)) }
    }

    // MARK: Groups

    /// An answer with these totals: charge and energy of group 0, and of group 1.
    private func totals(_ first: (UInt32, UInt32), _ second: (UInt32, UInt32), serial: UInt32 = 48_724) -> TC66Sample {
        var sample = TC66Sample()
        sample.put(serial, at: 12)
        for (value, offset) in [(first.0, 72), (first.1, 76), (second.0, 80), (second.1, 84)] {
            sample.put(value, at: offset)
        }
        return sample.sealed()
    }

    /// The charge and energy of each answer's reading, and the group that it tells.
    private func told(_ samples: [TC66Sample]) throws -> [[Double?]] {
        decodedFrames(try samples.flatMap { try $0.encrypted() }, with: TC66Decoder()).map { frame in
            var told: [Double?] = []
            frame.forEachReading { told = [$0[.charge], $0[.energy]] }
            let group = frame.content.details.first { $0.key == "selected_group" }?.value
            if case .integer(let group) = group { return told + [Double(group)] }
            return told + [nil]
        }
    }

    /// The group that moves is the one that counts (kolinger/rd-usb issue 19: one set to its second group stays at 0).
    @Test func groupThatMoves_isTheOneThatIsTold() throws {
        #expect(
            try told([
                totals((0, 0), (1234, 6290)), totals((0, 0), (1234, 6291)), totals((0, 0), (1235, 6292)),
                totals((0, 0), (1235, 6292)), totals((0, 1), (1235, 6292)), totals((1, 5), (1236, 6293)),
                totals((1, 5), (1236, 6294)),
            ]) == [
                [nil, nil, nil], [1234, 6.291, 1], [1235, 6.292, 1], [1235, 6.292, 1],
                // Another group is chosen; then both have moved between two answers.
                [0, 0.001, 0], [nil, nil, nil], [1236, 6.294, 1],
            ])
    }

    /// While both have the same it does not matter which one counts.
    @Test func equalGroups_areKnown() throws {
        #expect(try told([totals((0, 0), (0, 0))]) == [[0, 0, nil]])
        #expect(try told([totals((0, 5), (0, 0))]) == [[0, nil, nil]])
    }

    /// A group that falls was cleared, and says nothing; the one that counted goes on from zero.
    @Test func clearedGroup_isStillTheOne() throws {
        let before = [totals((9, 40), (3, 10)), totals((9, 41), (3, 10))]
        #expect(
            try told(before + [totals((0, 0), (3, 10)), totals((0, 1), (3, 10))]).suffix(2)
                == [[0, 0, 0], [0, 0.001, 0]])
        #expect(try told(before + [totals((9, 41), (0, 0))]).last == [9, 0.041, 0])
    }

    @Test func otherMeter_hasGroupsOfItsOwn() throws {
        let answers = [totals((9, 40), (3, 10)), totals((9, 41), (3, 10)), totals((9, 42), (3, 10), serial: 1)]
        #expect(try told(answers).map { $0[2] } == [nil, 0, nil])
    }

    @Test func newLink_knowsNoGroup() throws {
        var driver = TC66Driver(model: .tc66c)
        for _ in 0..<2 {
            _ = driver.opening()
            var charges: [Double?] = []
            for sample in [totals((9, 40), (3, 10)), totals((9, 41), (3, 10))] {
                driver.receive(try sample.encrypted()) { event in
                    if case .frame(let frame) = event { frame.forEachReading { charges.append($0[.charge]) } }
                }
            }
            #expect(charges == [nil, 9])
        }
    }

    /// An answer other than the usual one of 5.1609 V at 19.9 mA and 259.3 ohm: 9.0123 V at 1.5 A, and 6 ohm.
    private var later: TC66Sample {
        var sample = TC66Sample()
        sample.put(90_123, at: 48)
        sample.put(150_000, at: 52)
        sample.put(135_184, at: 56)
        sample.put(60, at: 68)
        sample.put(5700, at: 72)
        return sample.sealed()
    }

    /// Two answers with lost pieces, so that what is left looks like one answer: numbers from 0 are pieces of the first
    /// answer, numbers from 10 of the second.
    @Test(arguments: [[0, 11, 12], [1, 10, 12], [10, 1, 2], [11, 0, 2]])
    func piecesOfTwoAnswers_areNotJoined(pieces: [Int]) throws {
        let (first, second) = (TC66Sample(), later)
        let rest = try pieces.flatMap { try ($0 < 10 ? first.encrypted([$0]) : second.encrypted([$0 - 10])) }
        let whole = try second.encrypted()
        for chunk in [1, 20, 64, 600] {
            #expect(DecoderVerifier.feed(rest, chunk: chunk, to: TC66Decoder()).frames.isEmpty)
            let (frames, skipped) = DecoderVerifier.feed(rest + whole, chunk: chunk, to: TC66Decoder())
            #expect(frames == [whole])
            #expect(skipped == 192)
        }
    }

    /// Together with the next answer's first piece, the last two would make a third complete answer.
    @Test func pieceOfAnOlderAnswer_inFrontOfTwoInAnotherOrder_isNotJoined() throws {
        let rest = try TC66Sample().encrypted([0]) + later.encrypted([2, 1])
        #expect(decodedFrames(rest, with: TC66Decoder()).isEmpty)
    }

    /// Three answers in a row that disagree (d) are lost, and no more: then all are read, until three in a row agree (a).
    @Test(arguments: [
        ("dda", "a"), ("ddadd", "a"), ("dddd", "d"), ("ddddda", "dda"), ("dddaadaadd", "aadaadd"), ("dddaaad", "aaa"),
        ("dddaaadddd", "aaad"),
    ])
    func meterThatDisagrees_isRead_fromTheFourthAnswerOn(sent: String, shown: String) throws {
        var odd = TC66Sample()
        odd.put(7, at: 68)
        let answers = try ["d": odd.sealed().encrypted(), "a": TC66Sample().encrypted()]
        // Of a lost answer the last pieces wait until another has come.
        let stream = (sent + "a").compactMap { answers["\($0)"] }.flatMap { $0 }
        let (frames, _) = DecoderVerifier.feed(stream, chunk: 64, to: TC66Decoder())
        #expect(frames == (shown + "a").compactMap { answers["\($0)"] })
    }

    /// Half a milliampere, 2 % and 0.2 ohm, of 259.3 ohm at 5.1609 V and 19.9 mA; nobody knows what it reads while nothing
    /// flows, so that 0 and from 9999.9 ohm on everything fits.
    @Test(
        arguments: [
            (51_609, 1990, 2478, true), (51_609, 1990, 2477, false), (51_609, 1990, 2715, true),
            (51_609, 1990, 2716, false), (51_609, 1990, 1, false), (51_609, 1990, 0, true),
            (51_609, 1990, 99_998, false), (51_609, 1990, 99_999, true), (51_609, 50, 50_575, true),
            (51_609, 50, 50_574, false), (51_609, 50, 99_998, true), (0, 50, 1, true), (51_609, 0, 0, true),
            (51_609, 0, 99_999, true), (51_609, 0, 103_218, true), (51_609, 1, 99_999, true),
            (51_609, 40, 99_000, true), (51_609, 40, 129_022, true),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func resistance_fitsVoltageAndCurrent_withinItsSlack(
        voltage: UInt32, current: UInt32, resistance: UInt32, fits: Bool
    ) throws {
        var sample = TC66Sample()
        sample.put(voltage, at: 48)
        sample.put(current, at: 52)
        sample.put(resistance, at: 68)
        let read = try decodedReadings(sample.sealed().encrypted(), with: TC66Decoder()).map { $0[.resistance] }
        #expect(read == (fits ? [resistance < 99_999 ? Double(resistance) / 10 : nil] : []))
    }
}

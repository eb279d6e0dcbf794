import Domain
import MeterCodec
import MeterSimulator
import Testing

struct AtorchDecoderTests {
    /// A report laid out by hand from Docs/Protocols/Atorch.md#reports and Docs/Protocols/Atorch.md#check-byte.
    private func report(_ type: UInt8, _ fields: [(offset: Int, bytes: [UInt8])]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 36)
        bytes.replaceSubrange(0..<4, with: [0xFF, 0x55, 0x01, type])
        for field in fields {
            bytes.replaceSubrange(field.offset..<field.offset + field.bytes.count, with: field.bytes)
        }
        bytes[35] = bytes[2..<35].reduce(0, &+) ^ 0x44
        return bytes
    }

    /// 5.08 V, 1.12 A, 1234 mAh, 56.78 Wh, D- 2.70 V, D+ 0.60 V, 31 °C, 38:07:05, screen on; limits 35, 2.9 V and 8 A.
    private var usbReport: [UInt8] {
        report(
            3,
            [
                (4, [0x00, 0x01, 0xFC]), (7, [0x00, 0x00, 0x70]), (10, [0x00, 0x04, 0xD2]), (13, [0, 0, 0x16, 0x2E]),
                (17, [0x01, 0x0E]), (19, [0x00, 0x3C]), (21, [0x00, 0x1F]), (23, [0x00, 0x26, 7, 5]), (27, [0x3C]),
                (28, [0x0D, 0xAC, 0x01, 0x22, 0x03, 0x20]),
            ])
    }

    /// 28.2 V, 0.06 A, 12.36 Ah, 320 Wh, price 1.00, 38 °C, 89:13:54.
    private var dcReport: [UInt8] {
        report(
            2,
            [
                (4, [0x00, 0x01, 0x1A]), (7, [0x00, 0x00, 0x3C]), (10, [0x00, 0x04, 0xD4]), (13, [0, 0, 0, 0x20]),
                (17, [0, 0, 0x64]), (24, [0x00, 0x26]), (26, [0x00, 0x59, 13, 54]), (30, [0x1E]),
            ])
    }

    /// 229.4 V, 3.807 A, 719.2 W, 490 Wh, price 0.50, 49.9 Hz, power factor 0.823, 26 °C, 1:02:03.
    private var acReport: [UInt8] {
        report(
            1,
            [
                (4, [0x00, 0x08, 0xF6]), (7, [0x00, 0x0E, 0xDF]), (10, [0x00, 0x1C, 0x18]), (13, [0, 0, 0, 0x31]),
                (17, [0, 0, 0x32]), (20, [0x01, 0xF3]), (22, [0x03, 0x37]), (24, [0x00, 0x1A]), (26, [0, 1, 2, 3]),
                (30, [0x3C]),
            ])
    }

    private func simulatedReports(_ model: ModelName, quirks: SimulatedAtorch.Quirks = .init()) -> [[UInt8]] {
        var meter = SimulatedAtorch(model: model, quirks: quirks)
        return meter.due(at: .seconds(4))
    }

    @Test(arguments: [ModelName.atorchUSB, .atorchDC, .atorchAC])
    func reports_decodeInAnyPieces_andAmongRubbish(model: ModelName) {
        let reply = AtorchReply(.done).bytes
        DecoderVerifier.verify(
            frames: simulatedReports(model) + [reply, usbReport],
            falseStarts: [
                [0xFF], [0xFF, 0x55], [0xFF, 0x55, 0x01], [0xFF, 0x55, 0x01, 0x03], [0xFF, 0x55, 0x02, 0x01, 0x01, 0],
                [0xFF, 0xFF, 0x55], [0xFF, 0x55, 0x01, 0x02] + [UInt8](repeating: 0, count: 30),
            ],
            longestPending: 35
        ) { AtorchDecoder() }
    }

    @Test func reportsWithAnUnknownCheck_decodeInAnyPiecesToo() {
        var quirks = SimulatedAtorch.Quirks()
        quirks.check = .arbitrary
        DecoderVerifier.verify(frames: simulatedReports(.atorchUSB, quirks: quirks), longestPending: 35) {
            AtorchDecoder()
        }
    }

    @Test func type3_isAUSBMeter_andItsChargeIsInSingleMilliampereHours() throws {
        let reading = try #require(decodedReadings(usbReport, with: AtorchDecoder()).first)
        #expect(reading[.voltage] == 5.08)
        #expect(reading[.current] == 1.12)
        #expect(reading[.power] == 5.6896)
        #expect(reading[.charge] == 1234)
        #expect(reading[.energy] == 56.78)
        #expect(reading[.dataMinus] == 2.7)
        #expect(reading[.dataPlus] == 0.6)
        #expect(reading[.temperature] == 31)
        #expect(reading[.duration] == 137_225)
        #expect(reading.supported.contains(.price) == false)
    }

    @Test func type2_isADCMeter_andCountsInTens() throws {
        let reading = try #require(decodedReadings(dcReport, with: AtorchDecoder()).first)
        #expect(reading[.voltage] == 28.2)
        #expect(reading[.current] == 0.06)
        #expect(reading[.power] == 1.692)
        #expect(reading[.charge] == 12_360)
        #expect(reading[.energy] == 320)
        #expect(reading[.price] == 1)
        #expect(reading[.temperature] == 38)
        #expect(reading[.duration] == 321_234)
    }

    @Test func type1_isAnACMeter_withItsOwnPower_andNoCharge() throws {
        let reading = try #require(decodedReadings(acReport, with: AtorchDecoder()).first)
        #expect(reading[.voltage] == 229.4)
        #expect(reading[.current] == 3.807)
        #expect(reading[.power] == 719.2)
        #expect(reading[.energy] == 490)
        #expect(reading[.price] == 0.5)
        #expect(reading[.frequency] == 49.9)
        #expect(reading[.powerFactor] == 0.823)
        #expect(reading[.temperature] == 26)
        #expect(reading[.duration] == 3723)
        #expect(reading.supported.contains(.charge) == false)
    }

    @Test func details_areTheLimitsAndTheScreen() throws {
        let usb = try #require(decodedFrames(usbReport, with: AtorchDecoder()).first).content
        #expect(usb.model == .atorchUSB)
        #expect(usb.details.contains(FrameDetail("over_voltage_V", .number(35))))
        #expect(usb.details.contains(FrameDetail("under_voltage_V", .number(2.9))))
        #expect(usb.details.contains(FrameDetail("over_current_A", .number(8))))
        #expect(usb.details.contains(FrameDetail("backlight_s", .integer(60))))
        let dc = try #require(decodedFrames(dcReport, with: AtorchDecoder()).first).content
        #expect(dc.model == .atorchDC)
        #expect(dc.details.contains(FrameDetail("backlight_s", .integer(30))))
        #expect(!dc.details.contains { $0.key == "over_voltage_V" })
    }

    @Test func unknownCheck_isTaken_andScored() throws {
        var other = usbReport
        other[35] ^= 0x55
        for (bytes, matches) in [(usbReport, true), (other, false)] {
            guard case .atorchReport(let report) = try #require(decodedFrames(bytes, with: AtorchDecoder()).first)
            else {
                Issue.record("no report")
                return
            }
            #expect(report.checkMatches == matches)
        }
    }

    @Test func lastByteFF_isNoStartOfTheNext_whenItIsAnUnknownCheck() {
        var other = usbReport
        other[35] = 0xFF
        for chunk in [1, 20, 36, 72] {
            let (frames, skipped) = DecoderVerifier.feed(other + other, chunk: chunk, to: AtorchDecoder())
            #expect(frames == [other, other])
            #expect(skipped == 0)
        }
    }

    /// Reports in the pieces that Bluetooth makes of them; the second piece of the first report got lost.
    @Test func lostPiece_isNotFilledFromTheNextReport() {
        let lossy = Array(usbReport.prefix(20)) + dcReport
        let (frames, skipped) = DecoderVerifier.feed(lossy, chunk: 20, to: AtorchDecoder())
        #expect(frames == [dcReport])
        #expect(skipped == 20)
    }

    /// The first report on a link, from a meter whose check byte is not known yet, with every value that the one before
    /// it may have: whatever is lost in it, no wrong report comes out.
    @Test(arguments: [1, 2, 3, 5, 16])
    func bytesLostAtAnyOffset_giveNoFalseReading_andCostNoFurtherReport(lost: Int) throws {
        for report in [usbReport, dcReport, acReport, dimReport, idleReport] {
            for offset in 0...(36 - lost) {
                let stream = Array(report[..<offset] + report[(offset + lost)...]) + acReport + dcReport
                // The lost bytes come after the last value of the reading, and the FF of the next report is where an
                // unknown check byte may be: the check byte is lost, or is 0 and is where an unused byte belongs.
                if offset == 35 || offset >= 33 && lost == 1 && report[35] == 0 {
                    let whole = try #require(decodedReadings(report, with: AtorchDecoder()).first)
                    #expect(decodedReadings(stream, with: AtorchDecoder()).first == whole)
                    continue
                }
                for chunk in [20, stream.count] {
                    let (frames, _) = DecoderVerifier.feed(stream, chunk: chunk, to: AtorchDecoder())
                    #expect(frames == [acReport, dcReport], "\(lost) lost at \(offset)")
                }
            }
        }
    }

    /// The screen goes off after 30 s, which may just as well be seconds of the time; its check byte is 0, as unused
    /// bytes are.
    private var dimReport: [UInt8] {
        var report = usbReport
        report[27] = 30
        report[35] = report[2..<35].reduce(0, &+) ^ 0x44
        return report
    }

    /// A meter that has just been switched on, with no limits set.
    private var idleReport: [UInt8] { report(3, [(4, [0x00, 0x01, 0xF4]), (26, [2])]) }

    @Test func checkByte_isAskedFor_onceItWasRightThreeTimes() {
        var spoilt = usbReport
        spoilt[15] ^= 0x10
        let stream = usbReport + usbReport + spoilt + usbReport + usbReport + usbReport + spoilt + usbReport
        for chunk in [1, 20, 36, stream.count] {
            let (frames, skipped) = DecoderVerifier.feed(stream, chunk: chunk, to: AtorchDecoder())
            #expect(frames == [usbReport, usbReport, spoilt, usbReport, usbReport, usbReport, usbReport])
            #expect(skipped == 36)
        }
        let unchecked = AtorchDecoder(enforcesCheck: false)
        #expect(DecoderVerifier.feed(stream, chunk: 20, to: unchecked).frames.count == 8)
    }

    @Test func checkByteThatWasLost_costsNothingElse_onceItIsAskedFor() {
        let good = [UInt8]((0..<3).flatMap { _ in usbReport })
        let stream = good + usbReport.dropLast() + acReport + dcReport
        for chunk in [1, 20, stream.count] {
            let (frames, skipped) = DecoderVerifier.feed(stream, chunk: chunk, to: AtorchDecoder())
            #expect(frames.suffix(2) == [acReport, dcReport])
            #expect(skipped == 35)
        }
    }

    /// There may be another meter at the other end, or a meter with an unknown check byte matched by bad luck.
    @Test func checkByte_isNoLongerAskedFor_onceItWasWrongThreeTimes() {
        var other = usbReport
        other[35] ^= 0x55
        let stream = (0..<3).flatMap { _ in usbReport } + (0..<5).flatMap { _ in other }
        for chunk in [1, 20, stream.count] {
            let (frames, skipped) = DecoderVerifier.feed(stream, chunk: chunk, to: AtorchDecoder())
            #expect(frames == [usbReport, usbReport, usbReport, other, other])
            #expect(skipped == 3 * 36)
        }
    }

    @Test func unusedByteThatIsSet_isTaken_whereTheCheckByteProvesTheReport() {
        var set = report(3, [(34, [0x01])])
        #expect(decodedFrames(set, with: AtorchDecoder()).count == 1)
        set[35] ^= 1
        #expect(decodedFrames(set, with: AtorchDecoder()).isEmpty)
    }

    @Test func replyWithAWrongCheckByte_isNone_andCostsNoReport() {
        let reply = AtorchReply(.done).bytes
        for chunk in [1, 8, 100] {
            let (frames, skipped) = DecoderVerifier.feed(
                reply.dropLast() + usbReport, chunk: chunk, to: AtorchDecoder())
            #expect(frames == [usbReport])
            #expect(skipped == 7)
        }
        #expect(decodedFrames(reply.dropLast() + [0x41], with: AtorchDecoder()).isEmpty)
    }

    @Test(arguments: [33, 34, 35])
    func bytesLostInAReport_areNotFilledFromTheNext(kept: Int) {
        let lossy = Array(usbReport.prefix(10)) + Array(usbReport.suffix(kept - 10)) + acReport
        let (frames, _) = DecoderVerifier.feed(lossy, chunk: lossy.count, to: AtorchDecoder())
        #expect(frames == [acReport])
    }

    @Test(arguments: [
        (4, [0x00, 0x27, 0x11]),  // 100.01 V on a USB meter
        (7, [0x00, 0x13, 0x89]),  // 50.01 A
        (25, [60]),  // the sixtieth minute
        (26, [60]),
        (10, [0x98, 0x96, 0x80]),  // 10 kAh
        (13, [0x05, 0xF5, 0xE1, 0x00]),  // 1 MWh
        (17, [0x0B, 0xB9]),  // 30.01 V on D-
        (19, [0x0B, 0xB9]),  // and on D+
        (21, [0x00, 0xC9]),  // 201 degrees
        (27, [61]),  // the screen goes dark after 61 s
        (28, [0x27, 0x11]),  // limits above what is measured
        (30, [0x27, 0x11]),
        (32, [0x13, 0x89]),
    ])
    func impossibleValue_isNoReport(offset: Int, bytes: [Int]) {
        let report = report(3, [(offset, bytes.map { UInt8($0) })])
        let unproved = Array(report.dropLast()) + [report[35] ^ 1]
        #expect(decodedFrames(unproved, with: AtorchDecoder()).isEmpty)
        #expect(decodedFrames(unproved + usbReport, with: AtorchDecoder()).count == 1)
        // A check byte that is right vouches for all that a reading does not need (BelowZeroTests).
        #expect(decodedFrames(report, with: AtorchDecoder()).isEmpty == (offset < 10))
    }

    /// A recorded AC meter was set to 4000.49.
    @Test func highPrice_isTaken() {
        let report = report(1, [(4, [0x00, 0x08, 0xF6]), (17, [0x06, 0x1A, 0xB1])])
        #expect(decodedReadings(report, with: AtorchDecoder()).first?[.price] == 4000.49)
    }

    @Test func unknownType_isNoReport() {
        var decoder = AtorchDecoder()
        decoder.append(report(4, []))
        guard case .skipped(36, .unknownModel(word: 4)) = decoder.next() else {
            Issue.record("type 4 passed")
            return
        }
    }

    /// Replies as Docs/Protocols/Atorch.md#commands-and-replies lists them.
    @Test(arguments: [
        ("ff55020101000040", AtorchReply.Outcome.done), ("ff55020102000041", .failed),
        ("ff55020103000042", .unsupported),
        ("ff55020000000046", .undefined),
    ])
    func reply_isRead_andWrittenTheSame(text: String, outcome: AtorchReply.Outcome) throws {
        let bytes = try hex(text)
        guard case .atorchReply(let reply) = try #require(decodedFrames(bytes, with: AtorchDecoder()).first) else {
            Issue.record("no reply")
            return
        }
        #expect(reply.outcome == outcome)
        #expect(AtorchReply(outcome).bytes == bytes)
    }

    /// Found by fuzzing: an FF as the last byte was read together with the bytes after it, if they had arrived already.
    @Test func lastByteFF_isJudgedTheSame_whetherOrNotMoreHasCome() {
        let report = Array(usbReport.dropLast()) + [0xFF]
        let stream = report + [0x55, 0x01] + usbReport
        for chunk in [1, 36, stream.count] {
            let (frames, skipped) = DecoderVerifier.feed(stream, chunk: chunk, to: AtorchDecoder())
            #expect(frames == [report, usbReport])
            #expect(skipped == 2)
        }
    }

    @Test func replyBetweenReports_disturbsNeither() {
        let stream = usbReport + AtorchReply(.done).bytes + usbReport
        for chunk in [1, 20, stream.count] {
            let (frames, skipped) = DecoderVerifier.feed(stream, chunk: chunk, to: AtorchDecoder())
            #expect(frames.map(\.count) == [36, 8, 36])
            #expect(skipped == 0)
        }
    }

    /// Every field and every byte beside them, at its limit and one step beyond, behind a check byte that proves nothing.
    @Test(arguments: AtorchReportType.allCases)
    func everyField_isTakenUpToItsLimit(type: AtorchReportType) {
        var limits: [(offset: Int, width: Int, max: UInt32)] = type.fields.map { ($0.offset, $0.width, $0.rawMax) }
        limits += [(type.timeOffset + 2, 1, 59), (type.timeOffset + 3, 1, 59), (type.timeOffset + 4, 1, 60)]
        if type == .usb { limits += [(28, 2, 10_000), (30, 2, 10_000), (32, 2, 5000)] }
        for (offset, width, max) in limits {
            // An AC meter's power is that of its voltage and current, and those are 0 here.
            let isProduct = type == .ac && offset == 10
            for (value, isTaken) in [(max, !isProduct), (max + 1, false)] {
                let bytes = (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
                var decoder = AtorchDecoder()
                var unproved = report(type.rawValue, [(offset, bytes)])
                unproved[35] ^= 0x01
                decoder.append(unproved)
                switch decoder.next() {
                case .frame?: #expect(isTaken, "\(value) at \(offset)")
                case .skipped(_, .implausibleField(offset: offset))?: #expect(!isTaken, "\(value) at \(offset)")
                case let other: Issue.record("\(value) at \(offset): \(String(describing: other))")
                }
            }
        }
    }
}

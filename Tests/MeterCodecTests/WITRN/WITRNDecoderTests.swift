import Domain
import MeterCodec
import Testing

struct WITRNDecoderTests {
    private func reading(_ bytes: [UInt8]) throws -> Reading {
        try #require(decodedReadings(bytes, with: WITRNDecoder()).first)
    }

    private func details(_ bytes: [UInt8]) throws -> [String: FrameDetail.Value] {
        let frame = try #require(decodedFrames(bytes, with: WITRNDecoder()).first)
        return Dictionary(uniqueKeysWithValues: frame.content.details.map { ($0.key, $0.value) })
    }

    // MARK: Real reports

    /// The values were computed from the bytes by the layout that others have published, not by this program.
    @Test func reportOfARealK2_isRead() throws {
        let reading = try reading(WITRNSample.k2)
        #expect(reading[.voltage] == 0)
        #expect(reading[.current] == 0)
        #expect(reading[.power] == 0)
        #expect(abs(try #require(reading[.charge]) - 5161.299) < 0.001)
        #expect(abs(try #require(reading[.energy]) - 77.454323) < 0.00001)
        #expect(abs(try #require(reading[.dataPlus]) - 0.635258) < 0.00001)
        #expect(abs(try #require(reading[.dataMinus]) - 0.557093) < 0.00001)
        #expect(reading[.cc1] == 3)
        #expect(reading[.cc2] == 3.2)
        #expect(reading[.duration] == 8026)
        // The probe's field holds -100: none is plugged in.
        #expect(reading.supported.contains(QuantitySet(.temperature)))
        #expect(reading[.temperature] == nil)

        let details = try details(WITRNSample.k2)
        #expect(details["selected_group"] == .integer(1))
        #expect(details["recorder_threshold_A"] == .number(0.08))
        #expect(details["power_on_s"] == .integer(5266))
        #expect(details["clock_ms"] == .integer(5_266_172))
        #expect(details["internal_temperature_C"] == .number(25))
    }

    @Test func reportOfARealC5_isRead_withoutTheCCVoltageThatCannotBe() throws {
        let reading = try reading(WITRNSample.c5)
        #expect(abs(try #require(reading[.voltage]) - 0.004881837) < 1e-9)
        #expect(abs(try #require(reading[.current]) - 0.000109056) < 1e-9)
        #expect(abs(try #require(reading[.charge]) - 169.787511) < 0.00001)
        #expect(reading[.duration] == 188)
        #expect(!reading.supported.contains(QuantitySet(.cc1)))
        #expect(!reading.supported.contains(QuantitySet(.cc2)))
        #expect(try details(WITRNSample.c5)["clock_ms"] == .integer(663_760))
    }

    /// What the meter tells another program lies over the threshold and the charge.
    @Test func replyToAnotherProgram_isAFrameWithoutAReading() throws {
        for reply in WITRNSample.replies {
            #expect(decodedReadings(reply, with: WITRNDecoder()).isEmpty)
            let frame = try #require(decodedFrames(reply, with: WITRNDecoder()).first)
            #expect(frame.content.details == [FrameDetail("command", .integer(0x0A))])
            #expect(frame.content.powerDelivery == nil)
        }
    }

    // MARK: Values

    @Test func current_keepsItsSign_andPowerHasIt() throws {
        let reading = try reading(WITRNSample.Fields().bytes)
        #expect(reading[.voltage] == 9)
        #expect(reading[.current] == -1.5)
        #expect(reading[.power] == -13.5)
        #expect(reading[.charge] == 500)
        #expect(reading[.energy] == 2.5)
    }

    @Test func power_ofNothing_isPlainZero() throws {
        var fields = WITRNSample.Fields()
        (fields.volts, fields.amperes) = (0, -1)
        #expect(try reading(fields.bytes)[.power]?.sign == .plus)
    }

    @Test(arguments: [(Float(-40), true), (-40.1, false), (150, true), (150.1, false), (0, true), (-73, false)])
    func temperature_isThatOfAProbe(celsius: Float, isProbe: Bool) throws {
        var fields = WITRNSample.Fields()
        fields.outside = celsius
        #expect(try reading(fields.bytes)[.temperature] == (isProbe ? Double(celsius) : nil))
    }

    @Test func numberThatIsNone_isAnUnknownValue_whereTheReportIsGoodWithout() throws {
        var fields = WITRNSample.Fields()
        (fields.dataPlus, fields.dataMinus, fields.outside, fields.inside) = (.nan, .infinity, .nan, .nan)
        let reading = try reading(fields.bytes)
        for quantity in [Quantity.dataPlus, .dataMinus, .temperature] {
            #expect(reading[quantity] == nil)
            #expect(reading.supported.contains(QuantitySet(quantity)))
        }
        #expect(try details(fields.bytes)["internal_temperature_C"] == .unknown)
    }

    @Test(arguments: [
        ((UInt8(0), UInt8(0)), nil as (Double, Double)?), ((55, 0), (5.5, 0)), ((56, 0), nil), ((0, 55), (0, 5.5)),
        ((0, 56), nil), ((17, 2), (1.7, 0.2)),
    ])
    func ccVoltages_areThoseThatCanBe(raw: (UInt8, UInt8), volts: (Double, Double)?) throws {
        var fields = WITRNSample.Fields()
        fields.cc = raw
        let reading = try reading(fields.bytes)
        #expect(reading[.cc1] == volts?.0)
        #expect(reading[.cc2] == volts?.1)
        #expect(reading.supported.contains(QuantitySet(.cc1)) == (volts != nil))
    }

    /// Byte 3 has the low eight bits of the milliseconds and byte 6 the remainder by 100: every millisecond of a second
    /// follows from the two.
    @Test func clock_isToldByTwoBytes_atEveryMillisecond() throws {
        var fields = WITRNSample.Fields()
        for fraction in 0..<1000 {
            fields.fraction = fraction
            let clock = try details(fields.bytes)["clock_ms"]
            #expect(clock == .integer(100_000 + fraction))
        }
        fields.seconds = UInt32.max
        fields.fraction = 999
        #expect(try details(fields.bytes)["clock_ms"] == .integer(Int(UInt32.max &* 1000 &+ 999)))
    }

    @Test func clockOfBytesThatDoNotFit_isTheSecond() throws {
        var bytes = WITRNSample.Fields(fraction: 7).bytes
        bytes[6] = 99
        #expect(try details(WITRNSample.sealed(Array(bytes.prefix(62))))["clock_ms"] == .integer(100_000))
    }

    private func ticks(_ bytes: [UInt8]) throws -> SampleTicks? {
        let frame = try #require(decodedFrames(bytes, with: WITRNDecoder()).first)
        #expect(frame.sampleTicks == frame.content.sampleTicks)
        frame.forEachSample { _, tick in #expect(tick == frame.sampleTicks?.newest) }
        return frame.sampleTicks
    }

    private func tick(_ milliseconds: Int) -> SampleTicks {
        let tick = UInt16(truncatingIfNeeded: milliseconds)
        return SampleTicks(oldest: tick, newest: tick, step: 10, count: 1)
    }

    /// The published reports have the seconds twice, and both are the same.
    @Test func reading_hasTheTimeOfTheMetersClock() throws {
        #expect(try ticks(WITRNSample.k2) == tick(5_266_172))
        #expect(try ticks(WITRNSample.c5) == tick(663_760))
        for reply in WITRNSample.replies { #expect(try ticks(reply) == nil) }
    }

    @Test func time_goesOn_whereASecondEnds_andWhereTheCountWraps() throws {
        for second in [UInt32(0), 65, 255, 256, 4_294_967, .max] {
            var fields = WITRNSample.Fields(seconds: second, fraction: 995)
            let before = try #require(try ticks(fields.bytes))
            (fields.seconds, fields.fraction) = (second &+ 1, 5)
            let after = try #require(try ticks(fields.bytes))
            #expect(after.oldest &- before.newest == 10)
        }
    }

    /// A reading whose clock says two things is one without a time of its own.
    @Test(arguments: [(2, UInt8(101)), (3, 8), (6, 99)])
    func clockThatContradictsItself_tellsNoTime(place: Int, byte: UInt8) throws {
        var bytes = WITRNSample.Fields(fraction: 7).bytes
        bytes[place] = byte
        let report = WITRNSample.sealed(Array(bytes.prefix(62)))
        #expect(try ticks(report) == nil)
        #expect(decodedReadings(report, with: WITRNDecoder()).count == 1)
    }

    @Test func group_isNumberedAsOnItsScreen() throws {
        var fields = WITRNSample.Fields()
        fields.group = 9
        #expect(try details(fields.bytes)["selected_group"] == .integer(10))
        #expect(decodedFrames(fields.bytes, with: WITRNDecoder()).map(\.countingGroup) == [10])
    }

    // MARK: What is refused

    /// Each limit is still taken, and what lies beyond is refused with its place.
    @Test(arguments: [
        (Float(60), nil as Int?), (60.001, 46), (-0.1, nil), (-0.11, 46), (.nan, 46), (.infinity, 46),
    ])
    func voltage_hasLimits(volts: Float, offset: Int?) {
        var fields = WITRNSample.Fields()
        fields.volts = volts
        expectRefusal(of: fields, at: offset)
    }

    @Test(arguments: [
        (Float(20), nil as Int?), (20.001, 50), (-20, nil), (-20.001, 50), (.nan, 50), (-.infinity, 50),
    ])
    func current_hasLimits_inBothDirections(amperes: Float, offset: Int?) {
        var fields = WITRNSample.Fields()
        fields.amperes = amperes
        expectRefusal(of: fields, at: offset)
    }

    @Test(arguments: [(UInt8(44), 9 as Int?), (45, nil), (52, nil), (53, 9), (0, 9), (255, 9)])
    func length_hasLimits(length: UInt8, offset: Int?) {
        var fields = WITRNSample.Fields()
        fields.length = length
        expectRefusal(of: fields, at: offset)
    }

    @Test(arguments: [(Float(10), true), (10.001, false), (-10, true), (-10.001, false), (3e38, false)])
    func dataLine_isShown_whereItCanBe(volts: Float, isShown: Bool) throws {
        var fields = WITRNSample.Fields()
        (fields.dataPlus, fields.dataMinus) = (volts, 0.5)
        #expect(try reading(fields.bytes)[.dataPlus] == (isShown ? Double(volts) : nil))
        #expect(try reading(fields.bytes)[.dataMinus] == 0.5)
        (fields.dataPlus, fields.dataMinus) = (0.5, volts)
        #expect(try reading(fields.bytes)[.dataPlus] == 0.5)
        #expect(try reading(fields.bytes)[.dataMinus] == (isShown ? Double(volts) : nil))
    }

    /// A number that nobody can have counted is unknown, and costs no report whose two sums are right.
    @Test(arguments: [
        (Float(1e8), false), (1.0001e8, true), (-1e8, false), (-1.0001e8, true), (3e38, true),
        (.nan, true), (-.infinity, true),
    ])
    func counters_haveLimits(value: Float, isUnknown: Bool) throws {
        var fields = WITRNSample.Fields()
        (fields.ampereHours, fields.wattHours) = (value, 2)
        let charge = try #require(decodedReadings(fields.bytes, with: WITRNDecoder()).first)
        #expect((charge[.charge] == nil) == isUnknown)
        #expect(charge[.energy] == 2)
        (fields.ampereHours, fields.wattHours) = (1, value)
        let energy = try #require(decodedReadings(fields.bytes, with: WITRNDecoder()).first)
        #expect((energy[.energy] == nil) == isUnknown)
        #expect(energy[.charge] == 1000)
    }

    private func expectRefusal(
        of fields: WITRNSample.Fields, at offset: Int?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var decoder = WITRNDecoder()
        // What is refused costs itself and nothing of what follows.
        decoder.append(fields.bytes + WITRNSample.k2)
        guard let offset else {
            guard case .frame? = decoder.next() else {
                Issue.record("it is refused", sourceLocation: sourceLocation)
                return
            }
            return
        }
        guard case .skipped(let count, let error)? = decoder.next() else {
            Issue.record("it is taken", sourceLocation: sourceLocation)
            return
        }
        #expect(count == 64, sourceLocation: sourceLocation)
        #expect(error == .implausibleField(offset: offset), sourceLocation: sourceLocation)
        guard case .frame? = decoder.next() else {
            Issue.record("the next report is lost", sourceLocation: sourceLocation)
            return
        }
    }

    /// A report of the public tests whose author changed bytes and not its sums: none that a meter sent.
    @Test func reportWithWrongSums_isRefused_unlessChecksAreOff() throws {
        let madeUp = try hex(
            "FF55DD85D3A559CF1A34000050005C29A5409DE89A425A1F0000DD000000465A223F"
                + "F77F0E3F0000C8410000C8C20000000000000000001E200880060020D53A")
        #expect(decodedFrames(madeUp, with: WITRNDecoder()).isEmpty)
        #expect(decodedReadings(madeUp, with: WITRNDecoder(enforcesChecks: false)).count == 1)
        var decoder = WITRNDecoder()
        decoder.append(madeUp)
        guard case .skipped(_, let error)? = decoder.next() else {
            Issue.record("it is taken")
            return
        }
        #expect(error == .wrongCheck(expected: 0x0258, found: 0xD53A))
    }

    /// Each of the two sums alone.
    @Test(arguments: [62, 63])
    func eitherSum_isEnforced(offset: Int) {
        var bytes = WITRNSample.k2
        bytes[offset] ^= 1
        #expect(decodedFrames(bytes, with: WITRNDecoder()).isEmpty)
    }

    /// A bit turned over anywhere is seen.
    @Test func everyBit_isUnderACheck() {
        for place in 0..<512 {
            var bytes = WITRNSample.c5
            bytes[place / 8] ^= 1 << UInt8(place % 8)
            #expect(decodedReadings(bytes, with: WITRNDecoder()).isEmpty, "bit \(place)")
        }
    }

    // MARK: Streams

    @Test func reports_areFoundInAnyPieces_andAmongRubbish() {
        let frames = [WITRNSample.k2, WITRNSample.heard(WITRNSample.offer), WITRNSample.c5, WITRNSample.replies[0]]
        DecoderVerifier.verify(
            frames: frames, falseStarts: [[0xFF], [0xFE], [0xFF, 0x55], [0xFF, 0xFF, 0x55], [0xFE, 0x07, 0xE0]],
            longestPending: 63
        ) { WITRNDecoder() }
    }

    /// What limits the rate are the sums: two bytes that change by the same amount in opposite directions keep them.
    @Test func damagedReports_hardlyEverBecomeFalseValues() {
        let frames = (0..<20).map { step in
            var fields = WITRNSample.Fields()
            fields.volts += Float(step) / 10
            fields.amperes += Float(step) / 20
            fields.fraction = 10 * step
            return fields.bytes
        }
        let damage = CorruptedFrames(of: frames) { WITRNDecoder() }
        #expect(damage.count > 90_000)
        #expect(damage.falseReadings <= 40, "\(damage)")
        #expect(damage.lost == 0, "\(damage)")
    }
}

import Domain
import MeterCodec
import Testing

struct ZY1280Tests {
    private struct Fields {
        var volts: Int32 = 50_000
        var amperes: Int32 = 10_000
        var ampereHours: UInt32 = 5_000
        var wattHours: UInt32 = 25_000
        var time: UInt32 = 6_000
        var dataMinus: UInt16 = 600
        var dataPlus: UInt16 = 600

        var bytes: [UInt8] {
            var bytes: [UInt8] = [0xAB, 0x00, 0x06]
            bytes.appendLE(volts)
            bytes.appendLE(amperes)
            for word in [ampereHours, wattHours, time] { bytes.appendLE(word) }
            bytes.appendLE(dataMinus)
            bytes.appendLE(dataPlus)
            return bytes + [bytes.reduce(0, &+)]
        }
    }

    private func reading(_ bytes: [UInt8]) throws -> Reading {
        try #require(decodedReadings(bytes, with: ZY1280Decoder()).first)
    }

    /// Built from the layout that three readers share (Docs/Protocols/ZY1280.md): no capture is public.
    @Test func report_isRead() throws {
        let reading = try reading(
            try hex("AB0006 50C30000 10270000 88130000 A8610000 70170000 5802 5A02 DC"))
        #expect(reading[.voltage] == 5)
        #expect(reading[.current] == 1)
        #expect(reading[.power] == 5)
        #expect(reading[.charge] == 500)
        #expect(reading[.energy] == 2.5)
        #expect(reading[.duration] == 60)
        #expect(reading[.dataMinus] == 0.6)
        #expect(reading[.dataPlus] == 0.602)
        #expect(!reading.supported.contains(QuantitySet(.temperature)))
    }

    /// Half of a counter's range is 100 years of 5 A; the other half would be below zero.
    @Test func current_hasASign_andCountersHaveNone() throws {
        let reading = try reading(
            Fields(amperes: -10_000, ampereHours: .max, wattHours: .max, time: .max).bytes)
        #expect(reading[.current] == -1)
        #expect(reading[.power] == -5)
        #expect(reading[.charge] == nil && reading[.energy] == nil)
        let most = try self.reading(Fields(ampereHours: 0x7FFF_FFFF, wattHours: 0x7FFF_FFFF).bytes)
        #expect(most[.charge] == 214_748_364.7 && most[.energy] == 214_748.3647)
        #expect(reading[.duration] == 42_949_672.95)
        #expect(try self.reading(Fields(volts: 0, amperes: -1).bytes)[.power]?.sign == .plus)
    }

    @Test(arguments: [
        (Fields(volts: 480_000), nil as Int?), (Fields(volts: 480_001), 3), (Fields(volts: -1000), nil),
        (Fields(volts: -1001), 3), (Fields(volts: .min), 3), (Fields(amperes: 100_000), nil),
        (Fields(amperes: 100_001), 7), (Fields(amperes: -100_000), nil), (Fields(amperes: -100_001), 7),
        (Fields(amperes: .min), 7), (Fields(dataMinus: 10_000), nil), (Fields(dataMinus: 10_001), 23),
        (Fields(dataPlus: 10_000), nil), (Fields(dataPlus: 10_001), 25),
        (Fields(dataMinus: 65_035), 23), (Fields(dataMinus: 65_036), nil), (Fields(dataPlus: .max), nil),
    ])
    private func values_haveLimits(fields: Fields, offset: Int?) {
        var decoder = ZY1280Decoder()
        decoder.append(fields.bytes + Fields().bytes)
        switch decoder.next() {
        case .frame: #expect(offset == nil)
        case .skipped(let count, let error):
            #expect(error == offset.map { .implausibleField(offset: $0) })
            #expect(count == 28)
        case nil: Issue.record("nothing")
        }
        guard case .frame? = decoder.next() else {
            Issue.record("the next report is lost")
            return
        }
    }

    @Test func wrongSum_isRefused_unlessChecksAreOff() {
        var bytes = Fields().bytes
        bytes[27] &+= 1
        var decoder = ZY1280Decoder()
        decoder.append(bytes)
        guard case .skipped(_, .wrongCheck(expected: 0xDA, found: 0xDB))? = decoder.next() else {
            Issue.record("it is taken")
            return
        }
        #expect(decodedReadings(bytes, with: ZY1280Decoder(enforcesCheck: false)).count == 1)
    }

    @Test func everyBit_isUnderACheck() {
        for place in 0..<224 {
            var bytes = Fields().bytes
            bytes[place / 8] ^= 1 << UInt8(place % 8)
            #expect(decodedReadings(bytes, with: ZY1280Decoder()).isEmpty, "bit \(place)")
        }
    }

    @Test func reports_areFoundInAnyPieces_andAmongRubbish() {
        let frames = [Fields().bytes, Fields(volts: 90_000).bytes, Fields(amperes: -5).bytes]
        DecoderVerifier.verify(
            frames: frames, falseStarts: [[0xAB], [0xAB, 0x00], [0xAB, 0x00, 0x06], [0xAB, 0x00, 0xAB, 0x00, 0x06]],
            longestPending: 27
        ) { ZY1280Decoder() }
    }

    /// A port that was opened in the middle of a report.
    @Test func streamThatBeginsInsideAReport_costsThatReport() {
        let stream = Fields().bytes.dropFirst(9) + Fields().bytes
        #expect(decodedReadings(Array(stream), with: ZY1280Decoder()).count == 1)
    }

    /// One byte of a sum: it lets one in 256 of those pass in which several bytes are wrong.
    @Test func damagedReports_becomeFalseValues_asSeldomAsOneSumAllows() {
        let frames = (0..<20).map { Fields(volts: 50_000 + Int32($0) * 1000, time: UInt32($0)).bytes }
        let damage = CorruptedFrames(of: frames) { ZY1280Decoder() }
        #expect(damage.count > 90_000)
        #expect(damage.falseReadings <= 120, "\(damage)")
        #expect(damage.lost == 0, "\(damage)")
    }

    // MARK: The driver

    @Test(arguments: ZY1280Family().models)
    func driver_sendsNothing(model: ModelName) throws {
        var driver = try #require(ZY1280Family().driver(for: model, over: .serial))
        #expect(driver.opening().isEmpty && driver.poll().isEmpty && driver.closing().isEmpty)
        #expect(driver.profile.baudRate == 115_200)
        #expect(driver.profile.rhythm == .push(expected: .milliseconds(250), keepAlive: nil))
        #expect(throws: CodecError.unsupportedCommand(.clearAll, model: model)) {
            try driver.encode(MeterCommand(.clearAll))
        }
        driver.receive(Array(Fields().bytes.prefix(5))) { _ in }
        #expect(driver.discardPartial() == 5)
    }

    /// Nobody's ids but the adapter's: no USB device is taken for one.
    @Test func noUSBDevice_isTakenForOne() {
        #expect(ZY1280Family().usbDevices.isEmpty)
        for transport in LinkAddress.Transport.allCases where transport != .serial {
            #expect(ZY1280Family().driver(for: .zy1280, over: transport) == nil)
        }
    }
}

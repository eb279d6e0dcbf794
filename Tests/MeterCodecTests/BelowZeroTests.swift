import Domain
import MeterCodec
import MeterSimulator
import Testing

/// What a meter sends below zero, of every quantity that it sends without a sign: never a large number, and no reason to
/// take the meter for a dead one.
struct BelowZeroTests {
    private func readings(_ bytes: [UInt8], _ name: String) throws -> [Reading] {
        decodedReadings(bytes, with: try #require(MeterCatalogue.standard.decoder(named: name)))
    }

    // MARK: UM

    /// A block of a UM25C with 5 V, 1.5 A and these words.
    private func um(_ words: [Int: Int]) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: 130)
        var fields = [0: 0x09C9, 2: 5000, 4: 15_000, 8: 7500, 10: 25, 12: 77, 124: 33, 128: 0xFFF1]
        fields.merge(words) { $1 }
        for (offset, word) in fields {
            (block[offset], block[offset + 1]) = (UInt8(word >> 8 & 0xFF), UInt8(word & 0xFF))
        }
        return block
    }

    /// The display goes to -10 °C (davatorium/um25c-client README.md). No block from below zero is public: both words may be
    /// two's complement, or °C stay at 0 while °F fall, and then it is not known.
    @Test(
        arguments: [
            (0xFFFB, 23, -5, 23), (0xFFFF, 30, -1, 30), (0xFFF6, 14, -10, 14), (0xFFE2, 0xFFEA, -30, -22),
            (0, 32, 0, 32), (0, 23, nil, 23), (0, 0xFFF6, nil, -10), (31, 88, 31, 88),
        ] as [(Int, Int, Double?, Int)])
    func um_below0(celsius: Int, fahrenheit: Int, expected: Double?, fahrenheitShown: Int) throws {
        let bytes = um([10: celsius, 12: fahrenheit])
        let reading = try #require(try readings(bytes, "um").first)
        #expect(reading[.temperature] == expected)
        #expect(reading.supported.contains(.temperature))
        let detail = decodedFrames(bytes, with: UMDecoder()).first?.content.details.first
        #expect(detail == FrameDetail("temperature_F", .integer(fahrenheitShown)))
    }

    @Test(arguments: [(0xFFFF, true), (0xFFCE, true), (0xFFCD, false), (3001, false)])
    func um_dataLine(word: Int, isRead: Bool) throws {
        for (offset, quantity) in [(96, Quantity.dataPlus), (98, .dataMinus)] {
            let reading = try readings(um([offset: word]), "um").first
            #expect((reading != nil) == isRead)
            #expect(reading?[quantity] == nil)
        }
    }

    // MARK: FNIRSI

    /// 5 V, 0.15 A and these bytes, in each sample.
    private func fnirsi(_ fields: [Int: [UInt8]]) throws -> Reading? {
        var sample = try hex("20a10700 983a0000 58025802 01 3601")
        for (offset, bytes) in fields { sample.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        let packet: [UInt8] = [0xAA, 0x04] + sample + sample + sample + sample + [0]
        return try readings(packet + [Checksum.crc8FNIRSI(packet.dropFirst())], "fnirsi-usb").first
    }

    /// Byte 12 is where a frame over LE has the temperature's sign, 1 above zero.
    @Test(
        arguments: [
            ([12: [1], 13: [0x32, 0]], 5), ([12: [0], 13: [0x32, 0]], nil), ([12: [2], 13: [0x32, 0]], nil),
            ([12: [0xFF], 13: [0x32, 0]], nil), ([13: [0xCE, 0xFF]], nil), ([12: [0], 13: [0xCE, 0xFF]], nil),
            ([13: [0, 0]], 0),
        ] as [([Int: [UInt8]], Double?)])
    func fnirsiUSB_temperature(fields: [Int: [UInt8]], expected: Double?) throws {
        let reading = try #require(try fnirsi(fields))
        #expect(reading[.temperature] == expected)
        #expect(reading[.voltage] == 5)
    }

    @Test func fnirsiUSB_otherWords() throws {
        let voltage = try #require(try fnirsi([0: [0xFF, 0xFF, 0xFF, 0xFF]]))
        #expect(voltage[.voltage] == nil && voltage[.power] == nil && voltage[.current] == 0.15)
        let lines = try #require(try fnirsi([8: [0xFF, 0xFF, 0x0C, 0xFE]]))
        #expect(lines[.dataPlus] == nil && lines[.dataMinus] == nil && lines[.voltage] == 5)
        #expect(try fnirsi([8: [0x0B, 0xFE]]) == nil)
    }

    private func ble(_ type: UInt8, _ payload: String) throws -> Reading? {
        let head = try [0xAA, type, UInt8(payload.utf8.count / 2)] + hex(payload)
        return try readings(head + [FNIRSIBLEFrame.check(head)], "fnirsi-ble").first
    }

    @Test func fnirsiBLE_words() throws {
        #expect(try #require(try ble(7, "ffff0000"))[.voltage] == nil)
        #expect(try #require(try ble(7, "0bfe0000"))[.voltage] == 65.035)
        #expect(try #require(try ble(4, "ffffffff1027000000000000"))[.voltage] == nil)
        #expect(try ble(4, "000000801027000000000000") == nil)
        #expect(try #require(try ble(6, "ffff0cfe0500"))[.dataPlus] == nil)
        #expect(try #require(try ble(5, "50c3000001ceff"))[.temperature] == nil)
        #expect(try #require(try ble(5, "50c30000003200"))[.temperature] == -5)
        let zero = try #require(try ble(5, "50c30000000000"))
        #expect(zero[.temperature]?.sign == .plus)
        let totals = try #require(try ble(8, "01ffffffffffffffff100e00003c000000"))
        #expect(totals[.energy] == nil && totals[.charge] == nil && totals[.duration] == 3600)
    }

    /// Both readers take any sign above 0 for a plus (CapnBry/fnb48-web PROTOCOL.md, osnwt/ha-fnirsi-fnb58).
    @Test(arguments: [(UInt8(1), 28.2), (2, 28.2), (0xFF, 28.2), (0, -28.2)])
    func fnirsiBLE_sign(sign: UInt8, celsius: Double) throws {
        let reading = try #require(try ble(5, "50c30000" + Hex.encode([sign]) + "1a01"))
        #expect(reading[.temperature] == celsius)
        #expect(try readings(try hex("aa050750c30000021a0192"), "fnirsi-ble").first?[.temperature] == 28.2)
    }

    // MARK: Atorch

    /// A report of each type with this word for its temperature.
    private func atorch(_ type: UInt8, _ fields: [Int: [UInt8]], isProved: Bool = true) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 36)
        bytes.replaceSubrange(0..<4, with: [0xFF, 0x55, 0x01, type])
        bytes[5] = 0x01
        for (offset, field) in fields { bytes.replaceSubrange(offset..<offset + field.count, with: field) }
        bytes[35] = bytes[2..<35].reduce(0, &+) ^ (isProved ? 0x44 : 0x45)
        return bytes
    }

    /// A UD18 in frost.
    @Test func atorchInFrost_isRead() throws {
        let frost = "ff5501030001f3000000000638000003110007000afffb00122e333c0000000000000040"
        let reading = try #require(try readings(try hex(frost), "atorch").first)
        #expect(reading[.voltage] == 4.99 && reading[.duration] == 18 * 3600 + 46 * 60 + 51)
        #expect(reading[.temperature] == nil && reading.supported.contains(.temperature))
    }

    /// With a check byte that is right only voltage, current and power have to be possible. Without, a number that may be below
    /// zero is no damage, and any other is.
    @Test(arguments: [UInt8(1), 2, 3])
    func atorch_fields(type: UInt8) throws {
        let temperature = type == 3 ? 21 : 24
        for (word, isTaken) in [
            ([0xFF, 0xFB], true), ([0xFF, 0xCE], true), ([0xFF, 0xCD], false), ([0, 201], false),
        ]
            as [([UInt8], Bool)]
        {
            let proved = try #require(try readings(atorch(type, [temperature: word]), "atorch").first, "\(word)")
            #expect(proved[.temperature] == nil)
            let bare = try readings(atorch(type, [temperature: word], isProved: false), "atorch")
            #expect(bare.count == (isTaken ? 1 : 0), "\(word)")
            #expect(bare.first?[.temperature] == nil)
        }
        for offset in [4, 7] { #expect(try readings(atorch(type, [offset: [0xFF]]), "atorch").isEmpty) }
        let energy = try #require(try readings(atorch(type, [13: [0xFF]]), "atorch").first)
        #expect(energy[.energy] == nil)
        let minutes = try #require(try readings(atorch(type, [type == 3 ? 25 : 28: [60]]), "atorch").first)
        #expect(minutes[.duration] == nil)
        let frame = decodedFrames(atorch(type, [type == 3 ? 27 : 30: [61]]), with: AtorchDecoder()).first
        #expect(frame?.content.details.contains(FrameDetail("backlight_s", .unknown)) == true)
    }

    @Test func atorch_limitAndDataLine() throws {
        let frame = decodedFrames(atorch(3, [28: [0xFF, 0xFF]]), with: AtorchDecoder()).first
        #expect(frame?.content.details.contains(FrameDetail("over_voltage_V", .unknown)) == true)
        for isProved in [true, false] {
            let lines = atorch(3, [17: [0xFF, 0xFF, 0xFF, 0xFE]], isProved: isProved)
            let reading = try #require(try readings(lines, "atorch").first)
            #expect(reading[.dataPlus] == nil && reading[.dataMinus] == nil)
        }
    }

    /// A load's answer; it would cost a second if it were taken for none.
    @Test(arguments: [(UInt32(0xFFFF_FB), true), (0x00_FFFB, true), (0x00_FFCD, false), (0x01_FFFB, false)])
    func loadsTemperature_isAnAnswer(raw: UInt32, isAnswer: Bool) throws {
        #expect(PX100Query.temperature.allows(raw) == isAnswer)
        var decoder = AtorchDecoder(from: .load)
        decoder.asked = .temperature
        var bytes: [UInt8] = [0xCA, 0xCB]
        bytes.appendU24BE(raw)
        let readings = decodedReadings(bytes + [0xCE, 0xCF], with: decoder)
        #expect(readings.count == (isAnswer ? 1 : 0))
        #expect(readings.first?[.temperature] == nil)
    }

    // MARK: TC66, KM003C, ZY1280

    @Test(arguments: [
        (48, Quantity.voltage), (52, .current), (56, .power), (96, .dataPlus), (100, .dataMinus),
    ])
    func tc66_words(offset: Int, quantity: Quantity) throws {
        var sample = TC66Sample()
        // Nothing flows, so that the resistance agrees with anything.
        sample.put(99_999, at: 68)
        sample.put(.max, at: offset)
        let reading = try #require(try readings(try sample.sealed().encrypted(), "tc66").first)
        #expect(reading[quantity] == nil && reading.supported.contains(quantity))
    }

    @Test func tc66Recording_words() throws {
        let recording = try TC66Recording(hex("ffffffff a0860100 50c30000 ffffffff"))
        #expect(recording.samples.map { $0.voltage == nil } == [true, false])
        #expect(recording.samples.map { $0.current == nil } == [false, true])
    }

    /// No line of USB has 6 V, which -0.5 V would be in steps of 0.1 mV, or 65 V, which it would be in steps of 1 mV.
    @Test(arguments: [(UInt16(0xFFFF), nil as Double?), (60_536, nil), (60_535, 6.0535), (0, 0), (50_000, 5)])
    func km003c_lines(word: UInt16, volts: Double?) throws {
        var bytes = KM003CSample.adc
        for offset in stride(from: 8 + 26, through: 8 + 32, by: 2) {
            (bytes[offset], bytes[offset + 1]) = (UInt8(truncatingIfNeeded: word), UInt8(word >> 8))
        }
        let reading = try #require(try readings(bytes, "km003c").first)
        for line in [Quantity.cc1, .cc2, .dataPlus, .dataMinus] { #expect(reading[line] == volts) }
    }

    @Test(arguments: [(UInt16(65_036), nil as Double?), (65_035, 65.035), (5000, 5)])
    func km003c_linesOfAQueue(word: UInt16, volts: Double?) {
        let tail =
            [UInt8](repeating: 0, count: 12)
            + (0..<4).flatMap { _ in
                [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)]
            }
        let sample = tail.withUnsafeBytes { KM003CQueueSample($0, at: 0) }
        #expect(sample.reading(lineStep: .millivolt)[.dataPlus] == volts)
        #expect(sample.reading(lineStep: .millivolt)[.cc1] == volts)
    }

    // MARK: Every meter in the cold

    /// A meter at these degrees is read, and tells its temperature or that it does not know it.
    @Test(arguments: [-30.0, -5, 0], [ModelName.um24c, .um25c, .um34c])
    func coldMeter_isRead(ambient: Double, model: ModelName) throws {
        let load = ElectricalLoad(startCurrent: 0, ambient: ambient)
        var um = SimulatedUM(model: model, load: load)
        var tc66 = SimulatedTC66(model: .tc66c, load: load)
        var fnirsi = SimulatedFNIRSIUSB(load: load)
        _ = fnirsi.receive(FNIRSIUSBCommand.start.bytes, at: .zero)
        var km003c = SimulatedKM003C(model: .km003c, load: load)
        let atorch = [ModelName.atorchUSB, .atorchDC, .atorchAC].flatMap { model in
            var meter = SimulatedAtorch(model: model, load: load)
            return meter.due(at: .seconds(2)).map { ($0, "atorch") }
        }
        let asked: [([UInt8], String)] = [
            (um.receive([0xF0], at: .seconds(1)).flatMap { $0 }, "um"),
            (tc66.receive(Array("getva".utf8), at: .seconds(1)).flatMap { $0 }, "tc66"),
            (fnirsi.due(at: .milliseconds(400)).flatMap { $0 }, "fnirsi-usb"),
            (km003c.receive([0x0C, 0, 2, 0], at: .seconds(1)).flatMap { $0 }, "km003c"),
        ]
        for (bytes, decoder) in asked + atorch {
            let found = try readings(bytes, decoder)
            #expect(!found.isEmpty, "\(decoder)")
            for reading in found {
                guard let celsius = reading[.temperature] else { continue }
                #expect(abs(celsius - ambient) < 1.5, "\(decoder)")
            }
        }
    }
}

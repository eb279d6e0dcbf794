import Domain
import MeterCodec
import Testing

/// Command bytes and check values from Docs/Protocols/FNIRSI.md#commands.
struct FNIRSIUSBDriverTests {
    @Test(arguments: [
        (FNIRSIUSBCommand.hello, 0x81, 0x8E), (.start, 0x82, 0x96), (.keepOn, 0x83, 0x9E),
    ])
    func command_is64Bytes_withItsPublishedCheck(command: FNIRSIUSBCommand, code: Int, check: Int) {
        let expected = [0xAA, UInt8(code)] + [UInt8](repeating: 0, count: 61) + [UInt8(check)]
        #expect(command.bytes == expected)
    }

    @Test(arguments: [
        (ModelName.fnb58, 0x82), (.fnb48s, 0x82), (.fnb48, 0x83), (.c1, 0x82), (.fnac28, 0x82), (.fnbC2, 0x82),
    ])
    func opening_isTwoStarts_byModel_withoutAHello(model: ModelName, second: Int) {
        var driver = FNIRSIUSBDriver(model: model)
        let opening = driver.opening()

        // The first step only waits.
        #expect(opening.map { $0.bytes.dropFirst().first } == [nil, 0x82, UInt8(second)])
        #expect(opening.allSatisfy { $0.pause >= .milliseconds(25) })
    }

    @Test func keepAlive_comesWellWithinALease_andNeverTooFast() {
        for model in [ModelName.fnb58, .fnb48s, .fnb48, .c1, .fnac28, .fnbC2] {
            for firmware in [nil, 68] {
                let quirks = FNIRSIQuirks.of(model, firmware: firmware)
                #expect(quirks.keepAlivePeriod < .seconds(1))
                #expect(quirks.keepAlivePeriod >= quirks.commandGap)
                #expect(quirks.commandGap >= .milliseconds(25))
            }
        }
    }

    @Test func firmware068_keepsAnFNB58OnLikeAnFNB48() {
        #expect(FNIRSIQuirks.of(.fnb58, firmware: 68) == FNIRSIQuirks.of(.fnb48))
        #expect(FNIRSIQuirks.of(.fnb58, firmware: 67) == FNIRSIQuirks.of(.fnb58))
        #expect(FNIRSIQuirks.of(.fnb58) != FNIRSIQuirks.of(.fnb48))
        #expect(FNIRSIQuirks.of(.fnac28) == FNIRSIQuirks.of(.fnb58))
    }

    @Test func poll_startsAnew_whenALeaseOfKeepAlivesBroughtNothing() {
        var driver = FNIRSIUSBDriver(model: .fnb48)
        _ = driver.opening()

        // One second at 40 ms each. A meter that was never heard gets a hello first, once a link.
        for silence in [[0x81, 0x82], [0x82], [0x82]] as [[UInt8]] {
            let silent = (1...25 + silence.count).map { _ in driver.poll()[1] }
            #expect(silent.prefix(25).allSatisfy { $0 == 0x83 })
            #expect(silent.suffix(silence.count) == silence[...])
        }
        #expect(driver.poll()[1] == 0x83)
    }

    /// A hello may restart a meter, so one that streams, or did, never hears it.
    @Test(arguments: [ModelName.fnb58, .fnb48, .c1])
    func meterThatStreamed_hearsNoHello(model: ModelName) {
        var driver = FNIRSIUSBDriver(model: model)
        for _ in 0..<2 {
            _ = driver.opening()
            driver.receive(packet(volts: 0)) { _ in }
            let sent = (1...100).compactMap { _ in driver.poll().dropFirst().first }
            #expect(!sent.isEmpty && !sent.contains(0x81))
        }
    }

    /// An answer to the hello is no sample: the start follows it at once.
    @Test func hello_isFollowedByAStart_whateverIsAnswered() {
        var driver = FNIRSIUSBDriver(model: .fnb58)
        _ = driver.opening()
        let sent = (1...4).map { _ in
            let code = driver.poll()[1]
            if code == 0x81 {
                let info: [UInt8] = [0xAA, 0x03] + [UInt8](repeating: 0, count: 61)
                driver.receive(info + [Checksum.crc8FNIRSI(info.dropFirst())]) { _ in }
            }
            return code
        }
        #expect(sent == [0x82, 0x82, 0x81, 0x82])
    }

    /// A packet as in Docs/Protocols/FNIRSI.md#packet whose samples all have one voltage, in hundred-thousandths.
    private func packet(volts: UInt8) -> [UInt8] {
        let sample: [UInt8] = [0, 0, 0, volts, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]
        var bytes: [UInt8] = [0xAA, 0x04]
        for _ in 1...4 { bytes += sample }
        bytes.append(0)
        return bytes + [Checksum.crc8FNIRSI(bytes.dropFirst())]
    }

    /// The second packet holds 1342 V but is as complete as the first: the stream goes on.
    @Test(arguments: [UInt8(0), 8])
    func poll_staysWithKeepOn_asLongAsPacketsCome(volts: UInt8) {
        var driver = FNIRSIUSBDriver(model: .fnb48)
        for _ in 0..<100 {
            #expect(driver.poll()[1] == 0x83)
            driver.receive(packet(volts: volts)) { _ in }
        }
    }

    @Test(arguments: [[0xAA], [0x00, 0x13, 0x37], [UInt8](repeating: 0xAA, count: 64)] as [[UInt8]])
    func poll_startsAnew_whenNothingButRubbishCame(rubbish: [UInt8]) {
        var driver = FNIRSIUSBDriver(model: .fnb48)
        let sent = (1...27).map { _ in
            driver.receive(rubbish) { _ in }
            return driver.poll()[1]
        }
        #expect(sent.last == 0x82)
    }

    // MARK: - Ids that two models have

    /// What is sent in turns of 40 ms, as (turn, command), while packets come in some of them.
    private func turns(_ count: Int, _ driver: inout FNIRSIUSBDriver, heard: (Int) -> Bool) -> [[Int]] {
        (1...count).compactMap { turn in
            if heard(turn) { driver.receive(packet(volts: 0)) { _ in } }
            let sent = driver.poll()
            return sent.isEmpty ? nil : [turn, Int(sent[1])]
        }
    }

    /// 0483:003B: after half a second of silence it is a C1 that wants `keepOn`. The second link begins as the first.
    @Test func silentMeterOfTwoModels_getsKeepOn_afterHalfASecond() {
        var driver = FNIRSIUSBDriver(model: .c1)
        for _ in 0..<2 {
            #expect(driver.opening().map { $0.bytes.dropFirst().first } == [nil, 0x82, 0x82])
            let sent = turns(40, &driver) { $0 > 13 }
            #expect(sent == (13...40).map { [$0, 0x83] })
        }
        // From then on it is one that wants it: a second without packets starts the stream anew.
        let silent = (1...25).map { _ in driver.poll()[1] }
        #expect(silent.last == 0x82)
        #expect(silent.dropLast().allSatisfy { $0 == 0x83 })
        #expect(driver.poll()[1] == 0x83)
    }

    @Test func streamingMeterOfTwoModels_getsAStartEachHalfSecond_andNothingElse() {
        var driver = FNIRSIUSBDriver(model: .c1)
        _ = driver.opening()
        #expect(turns(52, &driver) { _ in true } == [[13, 0x82], [26, 0x82], [39, 0x82], [52, 0x82]])
        // A turn follows the last packet, and eleven more without one are less than half a second.
        #expect(turns(11, &driver) { _ in false } == [])
        #expect(turns(2, &driver) { _ in true } == [[2, 0x82]])
        #expect(turns(12, &driver) { _ in false } == [[12, 0x83]])
    }

    @Test func closing_readsOnForALease() {
        var driver = FNIRSIUSBDriver(model: .fnb48)
        let closing = driver.closing()
        #expect(closing.allSatisfy { $0.bytes.isEmpty })
        #expect(closing.reduce(.zero) { $0 + $1.pause } > .seconds(1))
    }

    @Test func command_isRefused() {
        #expect(throws: CodecError.unsupportedCommand(.rotate, model: .fnb58)) {
            try FNIRSIUSBDriver(model: .fnb58).encode(MeterCommand(.rotate))
        }
    }

    // MARK: - Absurd samples

    /// A packet of four currents in milliamperes at 5 V.
    private func packet(milliamperes: [Int]) -> [UInt8] {
        var bytes: [UInt8] = [0xAA, 0x04]
        for current in milliamperes {
            bytes.appendLE(UInt32(500_000))
            bytes.appendLE(Int32(current * 100))
            bytes += [0, 0, 0, 0, 1, 0xFA, 0]
        }
        bytes.append(0)
        return bytes + [Checksum.crc8FNIRSI(bytes.dropFirst())]
    }

    /// The currents that come out, in milliamperes, and how many were replaced.
    private func shown(_ packets: [[Int]], by driver: inout FNIRSIUSBDriver) -> (currents: [Int], replaced: Int) {
        var currents: [Int] = []
        var replaced = 0
        for bytes in packets.map({ packet(milliamperes: $0) }) {
            driver.receive(bytes) { event in
                switch event {
                case .frame(let frame):
                    frame.forEachReading { reading in
                        currents.append(Int(((reading[.current] ?? 0) * 1000).rounded()))
                        #expect(abs((reading[.power] ?? 0) - 5 * (reading[.current] ?? 0)) < 1e-9)
                        #expect(reading[.temperature] == 25)
                    }
                case .filtered(let samples): replaced += samples
                default: Issue.record("\(event)")
                }
            }
        }
        return (currents, replaced)
    }

    /// The currents that were seen on an FNB-C2 which drew 55 mA (2.86 million samples of a bench logger; nobody has
    /// published a packet), wherever in a packet they stand.
    @Test(arguments: [1290, 2097, 8388, -8388], 1..<10)
    func absurdSample_isReplacedByItsNeighbours_andCounted(current: Int, place: Int) {
        var driver = FNIRSIUSBDriver(model: .fnbC2)
        _ = driver.opening()
        var samples = (0..<12).map { 55 + $0 % 3 }
        samples[place] = current
        let (currents, replaced) = shown(
            [Array(samples[0..<4]), Array(samples[4..<8]), Array(samples[8..<12])], by: &driver)

        #expect(currents.count == 12)
        #expect(replaced == 1)
        #expect(currents.allSatisfy { (55...57).contains($0) })
    }

    @Test func stepOfTwoSamples_andSmallNoise_pass() {
        var driver = FNIRSIUSBDriver(model: .fnbC2)
        _ = driver.opening()
        let packets = [[55, 55, 1500, 1500], [55, 55, 200, 55], [1500, 1600, 1700, 3000], [3000, 0, 0, -100]]
        let (currents, replaced) = shown(packets, by: &driver)
        #expect(currents == Array(packets.joined()))
        #expect(replaced == 0)
    }

    @Test func lastSampleOfAPacket_waitsForTheNext_onlyWhereItMayBeWrong() {
        var driver = FNIRSIUSBDriver(model: .fnbC2)
        _ = driver.opening()
        #expect(shown([[55, 56, 57, 58]], by: &driver).currents == [55, 56, 57, 58])
        #expect(shown([[55, 56, 57, 1500]], by: &driver).currents == [55, 56, 57])
        #expect(shown([[1501, 1502, 1503, 1504]], by: &driver).currents == [1500, 1501, 1502, 1503, 1504])
    }

    /// Any model may send such (hleserg/Attadipa docs/research does not say which one did), and a person may want to see it.
    @Test(arguments: FNIRSIFamily().models)
    func everyModel_isFiltered_unlessItIsSwitchedOff(model: ModelName) {
        var driver = FNIRSIUSBDriver(model: model)
        #expect(driver.profile.filters)
        for (isFiltering, expected) in [(true, [55, 55, 55, 55]), (false, [55, 8388, 55, 55])] {
            driver.isFiltering = isFiltering
            _ = driver.opening()
            let (currents, replaced) = shown([[55, 8388, 55, 55]], by: &driver)
            #expect(currents == expected)
            #expect(replaced == (isFiltering ? 1 : 0))
        }
    }

    /// The voltages of hleserg/Attadipa docs/research: 0 V and 1.87 mV while current flows, too high, and 0.08 V.
    @Test(arguments: [0, 187, 1_280_312, 8000], 1..<10)
    func absurdVoltage_isReplacedByItsNeighbours_andCounted(volts: UInt32, place: Int) {
        var driver = FNIRSIUSBDriver(model: .fnb58)
        _ = driver.opening()
        var samples = [UInt32](repeating: 501_432, count: 12)
        samples[place] = volts
        var readings: [Reading] = []
        var replaced = 0
        for start in [0, 4, 8] {
            driver.receive(packet(volts: Array(samples[start..<start + 4]))) { event in
                switch event {
                case .frame(let frame): frame.forEachReading { readings.append($0) }
                case .filtered(let samples): replaced += samples
                default: Issue.record("\(event)")
                }
            }
        }
        #expect(readings.map { $0[.voltage] } == [Double?](repeating: 5.01432, count: 12))
        #expect(readings.allSatisfy { $0[.current] == 0.15372 && abs(($0[.power] ?? 0) - 0.7708) < 0.0001 })
        #expect(replaced == 1)
    }

    /// A supply that is switched on, a charger that goes from 5 to 9 V, and ripple up to half a volt.
    @Test(arguments: [
        [0, 0, 500_000, 500_000], [500_000, 500_000, 900_000, 900_000], [500_000, 550_000, 500_000, 500_000],
    ])
    func voltageThatLasts_passes(volts: [UInt32]) {
        var driver = FNIRSIUSBDriver(model: .fnb58)
        _ = driver.opening()
        var found: [Double?] = []
        driver.receive(packet(volts: volts)) { event in
            if case .frame(let frame) = event { frame.forEachReading { found.append($0[.voltage]) } }
        }
        #expect(found == volts.map { Double($0) / 1e5 })
    }

    /// A packet of four voltages, in hundred-thousandths, at 153.72 mA.
    private func packet(volts: [UInt32]) -> [UInt8] {
        var bytes: [UInt8] = [0xAA, 0x04]
        for volts in volts {
            bytes.appendLE(volts)
            bytes.appendLE(Int32(15_372))
            bytes += [0x58, 2, 0x58, 2, 1, 0x36, 1]
        }
        bytes.append(0)
        return bytes + [Checksum.crc8FNIRSI(bytes.dropFirst())]
    }

    /// `meterctl decode` leaves them out too, and says so; not where checks are off.
    @Test func decoderOfCapturedBytes_filters_unlessChecksAreOff() throws {
        let bytes = packet(volts: [501_432, 0, 501_432, 501_432])
        for (enforces, volts) in [(true, 5.01432), (false, 0)] {
            let decoder = try #require(MeterCatalogue.standard.decoder(named: "fnirsi-usb", enforcingChecks: enforces))
            let frame = try #require(decodedFrames(bytes, with: decoder).first)
            #expect(decodedReadings(bytes, with: decoder)[1][.voltage] == volts)
            #expect(frame.content.details.contains(FrameDetail("replaced_samples", .integer(1))) == enforces)
        }
    }

    /// Packets cut the row of samples anywhere: what is shown is what the rule makes of the whole row. The seed is in the
    /// message of a failure.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func samples_areJudgedAsOneRow_whateverThePacketsAre(seed: UInt64) {
        var rng = SplitMix64(seed: seed)
        var driver = FNIRSIUSBDriver(model: .fnbC2)
        _ = driver.opening()
        // Exactly as far apart as is allowed, a little more, and far.
        let values = [55, 55, 56, 205, 206, 355, 356, 1500, -95, -96]
        let row = (0..<40).map { _ in values[Int(rng.next() % UInt64(values.count))] }
        var expected: [Int] = []
        var wrong = 0
        for (place, value) in row.enumerated() {
            guard place > 0, abs(value - row[place - 1]) > 150 else {
                expected.append(value)
                continue
            }
            guard place < row.count - 1 else { break }
            let median = [row[place - 1], value, row[place + 1]].sorted()[1]
            let isWrong = abs(value - median) > 150
            expected.append(isWrong ? median : value)
            wrong += isWrong ? 1 : 0
        }

        let (currents, replaced) = shown(stride(from: 0, to: 40, by: 4).map { Array(row[$0..<$0 + 4]) }, by: &driver)

        #expect(currents == expected, "seed \(seed)")
        #expect(replaced == wrong, "seed \(seed)")
        // A file's readings are judged alike, and one that nothing confirms is left out.
        var (filter, read) = (FNIRSIReadingFilter(reach: FNIRSIReadingFilter.samplesReach), [Int]())
        for (place, value) in row.enumerated() {
            var reading = Reading()
            (reading[.voltage], reading[.current]) = (5, Double(value) / 1000)
            filter.take(WallTime(millisecondsSince1970: Int64(place) * 10), reading) { _, reading in
                read.append(Int(((reading[.current] ?? 0) * 1000).rounded()))
            }
        }
        filter.finish()
        #expect(read == expected && filter.filtered == wrong + row.count - expected.count, "seed \(seed)")
    }

    /// Whatever the filter holds back, the samples follow each other by 10 ms.
    @Test func heldBackSample_keepsItsPlaceInTime() {
        var driver = FNIRSIUSBDriver(model: .fnbC2)
        _ = driver.opening()
        var told: [SampleTicks] = []
        for row in [[55, 55, 55, 3000], [55, 55, 55, 55], [55, 3000, 55, 55]] {
            driver.receive(packet(milliamperes: row)) { event in
                if case .frame(let frame) = event, let ticks = frame.sampleTicks { told.append(ticks) }
            }
        }
        #expect(told.map(\.count) == [3, 1, 4, 4])
        for ticks in told {
            #expect(ticks.countedBy == .frame)
            #expect(Int(ticks.newest - ticks.oldest) == 10 * (ticks.count - 1))
        }
    }

    @Test func newLink_hasNoNeighboursFromTheLast() {
        var driver = FNIRSIUSBDriver(model: .fnbC2)
        _ = driver.opening()
        #expect(shown([[55, 55, 55, 3000]], by: &driver).currents == [55, 55, 55])
        _ = driver.opening()
        let (currents, replaced) = shown([[55, 55, 55, 55]], by: &driver)
        #expect(currents == [55, 55, 55, 55])
        #expect(replaced == 0)
    }
}

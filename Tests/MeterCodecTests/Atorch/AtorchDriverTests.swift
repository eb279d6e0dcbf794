import Domain
import MeterCodec
import Testing

/// Command frames from Docs/Protocols/Atorch.md#commands-and-replies, one of which is its check vector.
struct AtorchDriverTests {
    private static let report = "ff55010300049600007003956d0004f42c00e600eb000000c30d093c0000000000000059"

    /// The meter confirms each command between two reports. Where no reply comes, the way in is doubted: ESPHome's integration
    /// writes to another characteristic (syssi/esphome-atorch-dl24). What may be sent twice is sent again by the other way.
    @Test(arguments: [(MeterCommand(.clearAll), true), (MeterCommand(.screenTimeout, 5), true), (.init(.setup), false)])
    func unansweredCommand_goesTheOtherWay(command: MeterCommand, isRepeated: Bool) throws {
        var driver = AtorchDriver(model: .atorchUSB)
        let (bytes, report) = (try driver.encode(command), try hex(Self.report))
        driver.receive(report + report + report) { _ in }
        #expect(!driver.doubtsOutput)
        driver.sent(command)
        driver.receive(report + report) { _ in }
        #expect(!driver.doubtsOutput)
        driver.receive(report) { _ in }
        #expect(driver.doubtsOutput)
        #expect(driver.outputSwitched(true) == (isRepeated ? bytes : []))
        #expect(!driver.doubtsOutput)
        driver.sent(command)
        driver.receive(report + report + AtorchReply(.done).bytes + report + report) { _ in }
        #expect(!driver.doubtsOutput)
        driver.sent(command)
        driver.receive(report + report + report) { _ in }
        #expect(driver.outputSwitched(false).isEmpty && !driver.doubtsOutput)
    }

    @Test(arguments: [
        (MeterCommand(.clearEnergy), "ff551103010000000051"), (MeterCommand(.clearCharge), "ff551103020000000052"),
        (MeterCommand(.clearTime), "ff551103030000000053"), (MeterCommand(.clearAll), "ff55110305000000005d"),
        (MeterCommand(.setup), "ff551103310000000001"), (MeterCommand(.enter), "ff551103320000000002"),
        (MeterCommand(.plus), "ff551103330000000003"), (MeterCommand(.minus), "ff55110334000000000c"),
    ])
    func usbCommand_isTenBytes(command: MeterCommand, bytes: String) throws {
        #expect(try Hex.encode(AtorchDriver(model: .atorchUSB).encode(command)) == bytes)
    }

    @Test(arguments: [
        (MeterCommand(.clearAll), "ff551101050000000053"), (MeterCommand(.plus), "ff551101110000000067"),
        (MeterCommand(.minus), "ff551101120000000060"), (MeterCommand(.screenTimeout, 1), "ff551101210000000170"),
        (MeterCommand(.price, 1), "ff551101220000000171"), (MeterCommand(.setup), "ff551101310000000007"),
    ])
    func acCommand_namesItsType(command: MeterCommand, bytes: String) throws {
        #expect(try Hex.encode(AtorchDriver(model: .atorchAC).encode(command)) == bytes)
    }

    @Test func price_isBigEndianHundredths_andNoUSBMeterHasOne() throws {
        // Type 2, price 123.45: 12345 = 3039.
        let bytes = try AtorchDriver(model: .atorchDC).encode(MeterCommand(.price, 12345))
        #expect(Array(bytes[3..<9]) == [0x02, 0x22, 0x00, 0x00, 0x30, 0x39])
        #expect(throws: CodecError.unsupportedCommand(.price, model: .atorchUSB)) {
            try AtorchDriver(model: .atorchUSB).encode(MeterCommand(.price, 1))
        }
    }

    @Test func numberOutOfRange_isRefusedWithWhatIsLegal() {
        let command = MeterCommand(.screenTimeout, 61)
        #expect(throws: CodecError.commandNumber(command, legal: 0...60)) {
            try AtorchDriver(model: .atorchUSB).encode(command)
        }
    }

    @Test func everyCommandOfTheProfile_hasBytes_andIsReadBackByTheMeter() throws {
        for model in [ModelName.atorchUSB, .atorchDC, .atorchAC] {
            let driver = AtorchDriver(model: model)
            // What meterd counts is meterd's to reset.
            for rule in driver.profile.commands where rule.kind != .resetEnergy {
                let command = MeterCommand(rule.kind, rule.numbers?.upperBound)
                let read = try #require(AtorchCommand(driver.encode(command)))
                #expect(read == AtorchCommand(command, type: try #require(AtorchReportType(model: model))))
            }
        }
    }

    @Test func spoiltCommand_isNotReadBack() throws {
        let good = try AtorchDriver(model: .atorchUSB).encode(MeterCommand(.clearAll))
        for index in good.indices {
            var bad = good
            bad[index] ^= 0x40
            #expect(AtorchCommand(bad) == nil, "byte \(index)")
        }
        #expect(AtorchCommand(good.dropLast()) == nil)
    }

    @Test func meterPushes_soNothingIsAsked() {
        var driver = AtorchDriver(model: .atorchUSB)
        #expect(driver.opening().isEmpty)
        #expect(driver.poll().isEmpty)
        #expect(driver.closing().isEmpty)
        #expect(driver.profile.rhythm == .push(expected: .seconds(1), keepAlive: nil))
        #expect(driver.profile.baudRate == 9600)
    }

    @Test func counters_moveInTheStepsOfTheReport() {
        let steps = [ModelName.atorchUSB, .atorchDC, .atorchAC].map { AtorchDriver(model: $0).profile.counterSteps }
        #expect(steps == [.fine, .tens, .tens])
    }

    @Test(arguments: [
        ("ff55020101000040", "acknowledged"), ("ff55020102000041", "rejected"), ("ff55020103000042", "rejected"),
        ("ff55020000000046", "frame"),
    ])
    func reply_becomesWhatItSays(bytes: String, meaning: String) throws {
        var driver = AtorchDriver(model: .atorchUSB)
        var events: [String] = []
        try driver.receive(hex(bytes)) { event in
            switch event {
            case .acknowledged: events.append("acknowledged")
            case .rejected: events.append("rejected")
            case .identified: events.append("identified")
            case .frame: events.append("frame")
            case .skipped: events.append("skipped")
            case .filtered: events.append("filtered")
            case .held: events.append("held")
            case .confirmed: events.append("confirmed")
            case .readBack: events.append("read back")
            }
        }
        #expect(events == [meaning])
    }
}

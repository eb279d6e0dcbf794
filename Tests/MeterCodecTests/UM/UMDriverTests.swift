import Domain
import MeterCodec
import MeterSimulator
import Testing

/// The command bytes as listed in Docs/Protocols/UM.md#commands, which public test suites of other readers confirm.
struct UMDriverTests {
    @Test(arguments: [
        (MeterCommand(.nextScreen), 0xF1), (MeterCommand(.rotate), 0xF2), (MeterCommand(.previousScreen), 0xF3),
        (MeterCommand(.clearGroup), 0xF4), (MeterCommand(.selectGroup, 0), 0xA0), (MeterCommand(.selectGroup, 9), 0xA9),
        (MeterCommand(.recordThreshold, 0), 0xB0), (MeterCommand(.recordThreshold, 10), 0xB1),
        (MeterCommand(.recordThreshold, 300), 0xCE), (MeterCommand(.brightness, 0), 0xD0),
        (MeterCommand(.brightness, 5), 0xD5), (MeterCommand(.screenTimeout, 0), 0xE0),
        (MeterCommand(.screenTimeout, 9), 0xE9),
    ])
    func command_isOneByte(command: MeterCommand, byte: Int) throws {
        #expect(try UMDriver(model: .um25c).encode(command) == [UInt8(byte)])
    }

    @Test func poll_isF0() {
        var driver = UMDriver(model: .um34c)
        #expect(driver.poll() == [0xF0])
    }

    /// The frame is from moormaster/python3-um24c-ble; over Classic, the plain byte is from dernasherbrezon.github.io.
    @Test func a3b_isAskedInAFrame_overLEAlone() throws {
        var radio = UMDriver(model: .a3b, over: .ble)
        #expect(radio.poll() == [0xFF, 0x55, 0x11, 0x03, 0xF0, 0, 0, 0, 0, 0x40])
        #expect(try radio.encode(MeterCommand(.rotate)).count == UMWrapping.length)
        var classic = UMDriver(model: .a3b, over: .spp)
        #expect(classic.poll() == [0xF0])
        #expect(classic.profile.answerTimeout >= .seconds(5))
        var other = UMDriver(model: .um24c, over: .ble)
        #expect(other.poll() == [0xF0])
    }

    @Test func wrapping_isReadBack_andNothingElseIs() {
        for byte in UInt8.min...UInt8.max {
            let frame = UMWrapping.frame(around: byte)
            #expect(UMWrapping.byte(in: frame) == byte)
            for count in frame.indices { #expect(UMWrapping.byte(in: Array(frame.prefix(count))) == nil) }
            #expect(UMWrapping.byte(in: frame + [0]) == nil)
            #expect(UMWrapping.byte(in: frame.dropLast() + [frame[9] ^ 1]) == nil)
        }
        #expect(UMWrapping.byte(in: []) == nil)
    }

    @Test func f3_meansNextGroupOnTheUM24C() throws {
        let driver = UMDriver(model: .um24c)
        #expect(try driver.encode(MeterCommand(.nextGroup)) == [0xF3])
        #expect(throws: CodecError.unsupportedCommand(.previousScreen, model: .um24c)) {
            try driver.encode(MeterCommand(.previousScreen))
        }
    }

    @Test func numberBetweenTwoSteps_isRefusedWithWhatIsLegal() {
        let command = MeterCommand(.recordThreshold, 45)
        let error = CodecError.commandNumber(command, legal: 0...300, step: 10)
        #expect(throws: error) { try UMDriver(model: .um25c).encode(command) }
        #expect(
            "\(error)" == "record-threshold 45 is not possible: record-threshold takes 0 to 300 in steps of 10")
    }

    /// A counter of one model may look like the word of another; a meter that was really swapped comes with a new link.
    /// An A3-B sends a UM24C's blocks (Docs/Protocols/UM.md).
    @Test(arguments: [(ModelName.um25c, ModelName.um25c), (.a3b, .um24c)])
    func otherModelsBlock_counts_onANewLinkOnly(model: ModelName, word: ModelName) {
        var driver = UMDriver(model: model)
        func models(_ answers: [[UInt8]]) -> [ModelName] {
            var models: [ModelName] = []
            for answer in answers {
                driver.receive(answer) { event in
                    if case .frame(let frame) = event, let model = frame.content.model { models.append(model) }
                }
            }
            return models
        }
        var (own, other) = (SimulatedUM(model: word), SimulatedUM(model: .um34c))
        _ = driver.opening()
        #expect(models(own.receive([0xF0], at: .seconds(1))) == [word])
        #expect(models(other.receive([0xF0], at: .seconds(2))) == [])
        _ = driver.discardPartial()
        #expect(models(other.receive([0xF0], at: .seconds(3))) == [])
        _ = driver.opening()
        #expect(models(other.receive([0xF0], at: .seconds(4))) == [.um34c])
    }

    @Test func numberOutOfRange_isRefusedWithWhatIsLegal() {
        let command = MeterCommand(.brightness, 6)
        #expect(throws: CodecError.commandNumber(command, legal: 0...5)) {
            try UMDriver(model: .um25c).encode(command)
        }
        #expect(throws: CodecError.commandNumber(MeterCommand(.brightness), legal: 0...5)) {
            try UMDriver(model: .um25c).encode(MeterCommand(.brightness))
        }
    }
}

import MeterCodec
import MeterModel
import Testing

/// The command bytes as protocols.md 1.2 lists them, confirmed there by public test suites of other readers.
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

    @Test func f3_meansNextGroupOnTheUM24C() throws {
        let driver = UMDriver(model: .um24c)
        #expect(try driver.encode(MeterCommand(.nextGroup)) == [0xF3])
        #expect(throws: CodecError.unsupportedCommand(.previousScreen, model: .um24c)) {
            try driver.encode(MeterCommand(.previousScreen))
        }
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

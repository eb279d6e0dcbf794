import Domain
import MeterCodec
import Testing

/// Command frames from Docs/Protocols/FNIRSI.md#bluetooth-le.
struct FNIRSIBLEDriverTests {
    @Test(arguments: [
        (FNIRSIBLECommand.info, "aa8100f4"), (.start, "aa8200a7"), (.stop, "aa840001"), (.status, "aa850030"),
    ])
    func command_isItsPublishedFrame(command: FNIRSIBLECommand, bytes: String) {
        #expect(Hex.encode(command.bytes) == bytes)
    }

    @Test func opening_asksWhoIsThere_thenStarts() {
        var driver = FNIRSIBLEDriver(model: .fnb58)
        let opening = driver.opening()
        #expect(opening.map(\.bytes) == [FNIRSIBLECommand.info.bytes, FNIRSIBLECommand.start.bytes])
        #expect(opening[0].pause >= .milliseconds(100) && opening[0].pause <= .seconds(2))
    }

    @Test func poll_startsAgain_onlyAfterSilence() {
        var driver = FNIRSIBLEDriver(model: .fnb58)
        _ = driver.opening()

        // A captured frame, in two pieces.
        driver.receive([0xAA, 0x07, 0x04, 0x2D]) { _ in }
        driver.receive([0x4F, 0xD9, 0x07, 0x0A]) { _ in }
        #expect(driver.poll().isEmpty)
        #expect(driver.poll() == FNIRSIBLECommand.start.bytes)
    }

    @Test(arguments: [[0x07], [0x00, 0x13, 0x37], [0xAA, 0x07, 0x04, 0x2D, 0x4F, 0xD9, 0x07, 0x0B]] as [[UInt8]])
    func poll_startsAgain_whenNothingButRubbishCame(rubbish: [UInt8]) {
        var driver = FNIRSIBLEDriver(model: .fnb58)
        _ = driver.opening()
        driver.receive(rubbish) { _ in }
        #expect(driver.poll() == FNIRSIBLECommand.start.bytes)
    }

    @Test func closing_stopsTheStream() {
        var driver = FNIRSIBLEDriver(model: .fnb48s)
        #expect(driver.closing().map(\.bytes) == [FNIRSIBLECommand.stop.bytes])
    }

    @Test func receive_handsOnEachFrameByItself() throws {
        var driver = FNIRSIBLEDriver(model: .fnb58)
        var supported: [QuantitySet] = []
        // Two frames in one notification, laid out from Docs/Protocols/FNIRSI.md#bluetooth-le.
        let quick: [UInt8] = [0xAA, 0x07, 0x04, 0x2D, 0x4F, 0xD9, 0x07]
        let lines: [UInt8] = [0xAA, 0x06, 0x06, 0xE3, 0x0C, 0xE3, 0x0C, 0x05, 0x00]
        let notification = [lines, quick].flatMap { $0 + [UInt8(Checksum.crc16Xmodem($0) & 0xFF)] }

        driver.receive(notification) { event in
            guard case .frame(let frame) = event else { return }
            frame.content.forEachReading { supported.append($0.supported) }
        }
        #expect(supported == [QuantitySet(.dataPlus, .dataMinus), QuantitySet(.voltage, .current)])
    }

    /// A stream that was heard over the last link says nothing of this one.
    @Test func opening_forgetsWhatWasHeard() {
        var driver = FNIRSIBLEDriver(model: .fnb58)
        #expect(driver.poll() == FNIRSIBLECommand.start.bytes)
        driver.receive([0xAA, 0x07, 0x04, 0x2D, 0x4F, 0xD9, 0x07, 0x0A]) { _ in }
        _ = driver.opening()
        #expect(driver.poll() == FNIRSIBLECommand.start.bytes)
    }
}

import Domain
import MeterCodec
import Testing

struct KM003CDriverTests {
    private func names(_ driver: inout KM003CDriver, _ bytes: [UInt8]) -> [String] {
        var names: [String] = []
        driver.receive(bytes) { event in
            switch event {
            case .frame: names.append("frame")
            case .acknowledged: names.append("acknowledged")
            case .rejected: names.append("rejected")
            case .identified: names.append("identified")
            case .skipped(let count, _): names.append("skipped \(count)")
            case .filtered: names.append("filtered")
            case .held: names.append("held")
            case .confirmed: names.append("confirmed")
            case .readBack: names.append("read back")
            }
        }
        return names
    }

    /// The bytes as in Docs/Protocols/KM003C.md#link and in the public test suites of other readers.
    @Test func requests_countUp_andTheAttributeStandsOneBitUp() throws {
        var driver = KM003CDriver(model: .km003c)
        #expect(try driver.opening().map(\.bytes) == [hex("02010000"), hex("10020200")])
        #expect(try driver.poll() == hex("0c032200"))
        #expect(try driver.poll() == hex("0c042200"))
        #expect(try driver.request(.settings) == hex("0c051000"))
        #expect(try driver.request([.adc, .pd]) == hex("0c062200"))
        #expect(try driver.request(.logCatalogue) == hex("0c070004"))
        #expect(try driver.closing().map(\.bytes) == [hex("11080000"), hex("03090000")])
    }

    @Test func ids_wrapFrom255To1() throws {
        var driver = KM003CDriver(model: .km003c)
        for _ in 0..<255 { _ = driver.poll() }
        #expect(try driver.poll() == hex("0c012200"))
    }

    @Test func answer_countsOnlyWithTheNumberOfARequest() {
        var driver = KM003CDriver(model: .km003c)
        _ = driver.opening()
        #expect(names(&driver, [0x05, 0x09, 0, 0]) == ["skipped 4"])
        #expect(names(&driver, [0x05, 0x01, 0, 0]) == ["acknowledged"])
        #expect(names(&driver, [0x05, 0x01, 0, 0]) == ["skipped 4"])
        _ = driver.poll()
        #expect(names(&driver, [0x06, 0x03, 0, 0]) == ["rejected"])
        #expect(names(&driver, [0x27, 0x03, 0, 0]) == ["rejected"])
        #expect(names(&driver, [0x06, 0x77, 0, 0]) == ["skipped 4"])
    }

    /// A KM002C accepts, a KM003C may refuse, and neither means that a person's command was refused.
    @Test(arguments: [UInt8(0x05), 0x06])
    func monitor_isSwitchedOnBeforeTheFirstPoll_whateverTheMeterSays(answer: UInt8) {
        var driver = KM003CDriver(model: .km002c)
        let opening = driver.opening()
        #expect(opening.last?.pause == .milliseconds(200))
        #expect(names(&driver, [0x05, 0x01, 0, 0, answer, 0x02, 0, 0]) == ["acknowledged", "acknowledged"])
        _ = driver.poll()
        #expect(names(&driver, [answer, 0x02, 0, 0]) == ["skipped 4"])
        #expect(names(&driver, adc(id: 3)) == ["frame"])
        #expect(driver.closing().map { $0.bytes[0] } == [0x11, 0x03])
    }

    @Test func leftoverDisconnect_isPassedOver() {
        var driver = KM003CDriver(model: .km003c)
        _ = driver.opening()
        _ = driver.poll()
        #expect(
            names(&driver, [0x03, 0x05, 0, 0] + KM003CSample.accept + adc(id: 3)) == [
                "skipped 4", "acknowledged", "frame",
            ])
    }

    /// The measurements of the samples, as the answer to a request with this number.
    private func adc(id: UInt8) -> [UInt8] { [0x41, id] + KM003CSample.adc.dropFirst(2) }

    @Test func data_countOnlyWithTheNumberOfARequest_andOnce() {
        var driver = KM003CDriver(model: .km003c)
        #expect(names(&driver, adc(id: 1)) == ["skipped 52"])
        _ = driver.poll()
        _ = driver.poll()
        #expect(names(&driver, adc(id: 3) + adc(id: 1) + adc(id: 1)) == ["skipped 52", "frame", "skipped 52"])
        #expect(names(&driver, adc(id: 2)) == ["frame"])
    }

    @Test func data_areStillTaken_whenEarlierRequestsWereLost() {
        var driver = KM003CDriver(model: .km003c)
        for _ in 1...300 { _ = driver.poll() }
        // 300 requests count to 255 and then to 45; the answer to the one before comes no more.
        #expect(names(&driver, adc(id: 45)) == ["frame"])
        #expect(names(&driver, adc(id: 44)) == ["skipped 52"])
        for _ in 1...9 { _ = driver.poll() }
        #expect(names(&driver, adc(id: 46) + adc(id: 54)) == ["skipped 52", "frame"])
    }

    @Test func samplesBehindAQueue_goWithIt() {
        let queue = Array(KM003CSample.queue(sequences: [20, 40]).dropFirst(2))
        let more = KM003CSample.queueSamples(sequences: [60])
        var driver = KM003CDriver(model: .km003c)
        #expect(names(&driver, [0x41, 0x09] + queue + more) == ["skipped 48", "skipped 20"])
        _ = driver.request(.queue)
        #expect(names(&driver, [0x41, 0x01] + queue + more) == ["frame", "frame"])
    }

    @Test func commands_areAllRefused() {
        let driver = KM003CDriver(model: .km003c)
        for kind in MeterCommand.Kind.allCases {
            #expect(throws: CodecError.unsupportedCommand(kind, model: .km003c)) {
                try driver.encode(MeterCommand(kind))
            }
        }
    }

    @Test func discardPartial_forgetsHalfAnAnswer() {
        var driver = KM003CDriver(model: .km003c)
        _ = driver.poll()
        #expect(names(&driver, Array(adc(id: 1).prefix(30))).isEmpty)
        #expect(driver.discardPartial() == 30)
        #expect(names(&driver, adc(id: 1)) == ["frame"])
    }

    /// The driver asks for neither, so neither can announce or hold back bytes.
    @Test func memoryAndAuthentication_areRubbish() {
        for bytes in [KM003CSample.memoryAnswer, [0x4C, 0x00, 0x03, 0x02] + [UInt8](repeating: 0xEE, count: 32)] {
            var driver = KM003CDriver(model: .km003c)
            _ = driver.poll()
            let names = names(&driver, bytes + adc(id: 1))
            #expect(names.last == "frame")
            #expect(names.filter { $0 == "frame" }.count == 1)
        }
    }

    /// What was asked over the last link is not answered over this one.
    @Test func opening_forgetsWhatWasAsked() {
        let queue: [UInt8] = [0x41, 0x04] + KM003CSample.queue(sequences: [20, 40]).dropFirst(2)
        var driver = KM003CDriver(model: .km003c)
        _ = driver.opening()
        _ = driver.poll()
        _ = driver.request(.queue)
        #expect(names(&driver, queue) == ["frame"])
        _ = driver.opening()
        // The old connection and measurements.
        #expect(names(&driver, [0x05, 0x01, 0, 0]) == ["skipped 4"])
        #expect(names(&driver, adc(id: 3)) == ["skipped 52"])
        #expect(names(&driver, [0x05, 0x05, 0, 0, 0x06, 0x06, 0, 0]) == ["acknowledged", "acknowledged"])
        _ = driver.poll()
        #expect(names(&driver, adc(id: 7)) == ["frame"])
    }

    /// A session that closed a link without its monitor closes the next one with it, and each is switched off once.
    @Test func closing_switchesTheMonitorOff_onceALink() {
        var driver = KM003CDriver(model: .km003c)
        #expect(driver.closing().map { $0.bytes[0] } == [0x03])
        for _ in 0..<2 {
            _ = driver.opening()
            #expect(driver.closing().map { $0.bytes[0] } == [0x11, 0x03])
            #expect(driver.closing().map { $0.bytes[0] } == [0x03])
        }
    }

    /// Of the answers that are waited for, the last eight are remembered.
    @Test func requests_areRemembered_eightOfThem() {
        var driver = KM003CDriver(model: .km003c)
        for _ in 0..<9 { _ = driver.poll() }
        #expect(names(&driver, adc(id: 1)) == ["skipped 52"])
        #expect(names(&driver, adc(id: 2)) == ["frame"])
        driver = KM003CDriver(model: .km003c)
        for _ in 0..<9 { _ = driver.closing() }
        #expect(names(&driver, [0x05, 1, 0, 0, 0x05, 2, 0, 0]) == ["skipped 4", "acknowledged"])
    }
}

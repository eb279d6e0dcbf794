import MeterCodec
import MeterModel
import Testing

struct KM003CDriverTests {
    private func names(_ driver: inout KM003CDriver, _ bytes: [UInt8]) -> [String] {
        var names: [String] = []
        driver.receive(bytes) { event in
            switch event {
            case .frame: names.append("frame")
            case .acknowledged: names.append("acknowledged")
            case .rejected: names.append("rejected")
            case .skipped(let count, _): names.append("skipped \(count)")
            }
        }
        return names
    }

    /// The bytes as protocols.md 4.3 and public test suites of other readers have them.
    @Test func requests_countUp_andTheAttributeStandsOneBitUp() throws {
        var driver = KM003CDriver(model: .km003c)
        #expect(try driver.opening().map(\.bytes) == [hex("02010000")])
        #expect(try driver.poll() == hex("0c020200"))
        #expect(try driver.poll() == hex("0c030200"))
        #expect(try driver.request(.settings) == hex("0c041000"))
        #expect(try driver.request([.adc, .pd]) == hex("0c052200"))
        #expect(try driver.request(.logCatalogue) == hex("0c060004"))
        #expect(try driver.closing().map(\.bytes) == [hex("03070000")])
    }

    @Test(arguments: [(KM003CRate.two, "00"), (.ten, "02"), (.fifty, "04"), (.thousand, "06")])
    func graph_isStartedAndStopped_whenItIsWanted(rate: KM003CRate, parameter: String) throws {
        var driver = KM003CDriver(model: .km002c, graphRate: rate)
        #expect(try driver.opening().map(\.bytes) == [hex("02010000"), hex("0e02\(parameter)00")])
        #expect(try driver.poll() == hex("0c030600"))
        #expect(try driver.closing().map(\.bytes) == [hex("0f040000"), hex("03050000")])
        #expect(driver.closing().count == 1)
    }

    @Test func ids_wrapFrom255To1() throws {
        var driver = KM003CDriver(model: .km003c)
        for _ in 0..<255 { _ = driver.poll() }
        #expect(try driver.poll() == hex("0c010200"))
    }

    @Test func answer_countsOnlyWithTheNumberOfARequest() {
        var driver = KM003CDriver(model: .km003c)
        _ = driver.opening()
        #expect(names(&driver, [0x05, 0x09, 0, 0]) == ["skipped 4"])
        #expect(names(&driver, [0x05, 0x01, 0, 0]) == ["acknowledged"])
        #expect(names(&driver, [0x05, 0x01, 0, 0]) == ["skipped 4"])
        _ = driver.poll()
        #expect(names(&driver, [0x06, 0x02, 0, 0]) == ["rejected"])
        #expect(names(&driver, [0x27, 0x02, 0, 0]) == ["rejected"])
        #expect(names(&driver, [0x06, 0x77, 0, 0]) == ["skipped 4"])
    }

    @Test func leftoverDisconnect_isPassedOver() {
        var driver = KM003CDriver(model: .km003c)
        _ = driver.opening()
        #expect(
            names(&driver, [0x03, 0x05, 0, 0] + KM003CSample.accept + KM003CSample.adc) == [
                "skipped 4", "acknowledged", "frame",
            ])
    }

    @Test func commands_areAllRefused() {
        let driver = KM003CDriver(model: .km003c)
        for kind in MeterCommand.Kind.allCases {
            #expect(throws: CodecError.unsupportedCommand(kind, model: .km003c)) {
                try driver.encode(MeterCommand(kind))
            }
        }
    }

    @Test func discardPartial_forgetsHalfAnAnswer_andAnnouncedMemory() {
        var driver = KM003CDriver(model: .km003c)
        #expect(names(&driver, Array(KM003CSample.adc.prefix(30))).isEmpty)
        #expect(driver.discardPartial() == 30)
        #expect(names(&driver, KM003CSample.memoryAnswer) == ["frame"])
        #expect(driver.discardPartial() == 0)
        #expect(names(&driver, KM003CSample.adc) == ["frame"])
    }
}

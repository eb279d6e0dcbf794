import Domain
import MeterCodec
import Testing

/// The commands as listed in Docs/Protocols/TC66.md#links: five letters, and over the radio between `b` and CR LF.
struct TC66DriverTests {
    @Test(arguments: [
        (MeterCommand(.nextScreen), "nextp"), (MeterCommand(.previousScreen), "lastp"),
        (MeterCommand(.rotate), "rotat"),
    ])
    func command_isFiveLetters(command: MeterCommand, text: String) throws {
        #expect(try TC66Driver(model: .tc66c).encode(command) == Array(text.utf8))
    }

    @Test func poll_isGetva_afterAskingWhichProgramRuns() {
        var driver = TC66Driver(model: .tc66)
        #expect(driver.opening().map(\.bytes) == [Array("query".utf8)])
        #expect(driver.poll() == Array("getva".utf8))
        #expect(driver.closing().isEmpty)
    }

    @Test func overTheRadio_requestsStandBetweenBAndLineEnd() throws {
        var driver = TC66Driver(model: .tc66c, over: .ble)
        #expect(driver.opening().isEmpty)
        #expect(driver.poll() == Array("bgetva\r\n".utf8))
        #expect(try driver.encode(MeterCommand(.nextScreen)) == Array("bnextp\r\n".utf8))
        #expect(try driver.encode(MeterCommand(.previousScreen)) == Array("blastp\r\n".utf8))
        #expect(try driver.encode(MeterCommand(.rotate)) == Array("brotat\r\n".utf8))
    }

    /// The older radio takes 0.8 s for an answer, which over USB comes within 0.2 s.
    @Test(
        arguments: [
            (.usb, MeterProfile.Rhythm.poll(interval: .milliseconds(500), shortest: .milliseconds(100)), 1, 100),
            (.ble, .poll(interval: .seconds(1), shortest: .milliseconds(500)), 3, 200),
        ] as [(TC66Link, MeterProfile.Rhythm, Int, Int)])
    func rhythm_isThatOfItsLink(link: TC66Link, rhythm: MeterProfile.Rhythm, timeout: Int, spacing: Int) {
        let profile = TC66Driver(model: .tc66c, over: link).profile
        #expect(profile.rhythm == rhythm)
        #expect((profile.answerTimeout, profile.commandSpacing) == (.seconds(timeout), .milliseconds(spacing)))
    }

    @Test func nothingThatIsSent_startsTheLoader() {
        #expect(!TC66Request.allCases.contains { $0.rawValue == "update" })
    }

    @Test func otherCommands_areRefused() {
        #expect(throws: CodecError.unsupportedCommand(.clearGroup, model: .tc66)) {
            try TC66Driver(model: .tc66).encode(MeterCommand(.clearGroup))
        }
        #expect(throws: CodecError.commandNumber(MeterCommand(.rotate, 1), legal: nil)) {
            try TC66Driver(model: .tc66).encode(MeterCommand(.rotate, 1))
        }
    }

    @Test func modes_areAcknowledgedOrRejected() {
        var driver = TC66Driver(model: .tc66)
        var events: [String] = []
        driver.receive(Array("firmboot".utf8)) { event in
            switch event {
            case .acknowledged: events.append("acknowledged")
            case .rejected: events.append("rejected")
            default: events.append("other")
            }
        }
        #expect(events == ["acknowledged", "rejected"])
    }

    @Test func temperatureUnit_changesLaterReadings() throws {
        var driver = TC66Driver(model: .tc66c)
        var temperatures: [Double?] = []
        let bytes = try TC66Sample(temperature: (0, 77)).encrypted()
        for unit in [TemperatureUnit.celsius, .fahrenheit] {
            driver.temperatureUnit = unit
            driver.receive(bytes) { event in
                guard case .frame(let frame) = event else { return }
                frame.content.forEachReading { temperatures.append($0[.temperature]) }
            }
        }
        #expect(temperatures == [77, 25])
    }

    @Test func discardPartial_forgetsHalfAnAnswer() throws {
        var driver = TC66Driver(model: .tc66)
        let bytes = try TC66Sample().encrypted()
        var frames = 0
        let count: (MeterEvent) -> Void = { if case .frame = $0 { frames += 1 } }

        driver.receive(Array(bytes.prefix(100)), count)
        #expect(driver.discardPartial() == 100)
        driver.receive(bytes, count)

        #expect(frames == 1)
    }
}

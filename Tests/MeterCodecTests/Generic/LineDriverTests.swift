import Domain
import MeterCodec
import Testing

struct LineDriverTests {
    private func asked() -> LineDescription {
        var description = LineDescription.usual
        description.request = Array("R\n".utf8)
        description.interval = .seconds(5)
        return description
    }

    /// What a driver told: readings, and bytes skipped.
    private func hear(_ text: String, _ driver: inout LineDriver) -> (readings: [Double?], skipped: Int) {
        var readings: [Double?] = []
        var skipped = 0
        driver.receive(Array(text.utf8)) { event in
            switch event {
            case .frame(let frame): frame.forEachReading { readings.append($0[.voltage]) }
            case .skipped(let count, _): skipped += count
            default: break
            }
        }
        return (readings, skipped)
    }

    @Test func pushingBoard_isNotAsked() {
        var driver = LineDriver(model: .generic, .usual)
        #expect(driver.opening().isEmpty)
        #expect(driver.poll().isEmpty)
        #expect(driver.closing().isEmpty)
        #expect(driver.profile.rhythm == .push(expected: .seconds(1), keepAlive: nil))
    }

    /// A board that was reset by the opening hears nothing while its boot loader runs.
    @Test func askedBoard_isLeftAlone_thenAsked() {
        var driver = LineDriver(model: .generic, asked())
        let request = Array("R\n".utf8)
        #expect(driver.opening() == [Outgoing([], pause: .seconds(2)), Outgoing(request, pause: .milliseconds(500))])
        #expect(driver.poll() == request)
        #expect(driver.profile.rhythm == .poll(interval: .seconds(5), shortest: .milliseconds(100)))
        var fast = asked()
        fast.interval = .milliseconds(20)
        #expect(
            LineDriver(model: .generic, fast).profile.rhythm
                == .poll(interval: .milliseconds(20), shortest: .milliseconds(20)))
    }

    /// Garbage of a boot loader at another rate, the rest of a line, a greeting and a blank line: what has to be expected
    /// after the opening is told only as far as it is no comment and began in sight.
    @Test func afterOpening_bootTextsAreSkipped() {
        var driver = LineDriver(model: .generic, .usual)
        _ = driver.opening()
        var heard = hear("12;A=0.31\r\n", &driver)
        #expect(heard.readings.isEmpty)
        #expect(heard.skipped == 0)
        heard = hear("\u{0}\u{7F}ets Jan  8 2013\r\n", &driver)
        #expect(heard.readings.isEmpty)
        #expect(heard.skipped == 19)
        heard = hear("\r\n# ready\r\nV=5;A=1\r\n", &driver)
        #expect(heard.readings == [5])
        #expect(heard.skipped == 0)
        heard = hear("V=5;A=\r\nV=6;A=1\r\n", &driver)
        #expect(heard.readings == [6])
        #expect(heard.skipped == 8)
    }

    /// The second link begins as the first did.
    @Test func everyOpening_beginsAnew() {
        var driver = LineDriver(model: .generic, .usual)
        for _ in 0..<2 {
            _ = driver.opening()
            #expect(hear("V=5;A=1\r\nV=6;A=1\r\nV=7", &driver).readings == [6])
        }
        #expect(driver.discardPartial() == 3)
        #expect(hear("0;A=1\r\nV=7;A=1\r\n", &driver).readings == [7])
        #expect(driver.discardPartial() == 0)
    }

    @Test func commands_areRefused() {
        let driver = LineDriver(model: .generic, .usual)
        #expect(throws: CodecError.unsupportedCommand(.rotate, model: .generic)) {
            try driver.encode(MeterCommand(.rotate))
        }
    }
}

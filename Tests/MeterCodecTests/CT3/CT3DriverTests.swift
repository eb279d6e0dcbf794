import Domain
import MeterCodec
import Testing

struct CT3DriverTests {
    private func sample(_ id: UInt8, volts: Float = 5, middle: Int = 0) -> [UInt8] {
        var payload: [UInt8] = [0x04, 0, id, 0]
        payload.appendLE(volts)
        payload.appendLE(Float(1))
        payload += [UInt8](repeating: 0, count: middle)
        payload.appendLE(UInt64(1))
        return CT3Framing.frame(payload)
    }

    /// The id of a request that was sent.
    private func id(_ bytes: [UInt8]) -> UInt8 { bytes[7] }
    private func command(_ bytes: [UInt8]) -> UInt8? { bytes.isEmpty ? nil : bytes[6] }

    private func readings(_ bytes: [UInt8], _ driver: inout CT3Driver) -> Int {
        var count = 0
        driver.receive(bytes) { if case .frame(let frame) = $0 { frame.forEachReading { _ in count += 1 } } }
        return count
    }

    @Test func opening_stops_waits_andStarts() {
        var driver = CT3Driver(model: .avhzyCT3)
        let opening = driver.opening()
        #expect(opening.map { command($0.bytes) } == [0x07, 0x09])
        #expect(opening[0].pause >= .milliseconds(100))
        #expect(id(opening[0].bytes) != id(opening[1].bytes))
        #expect(driver.profile.rhythm == .push(expected: .milliseconds(10), keepAlive: .seconds(1)))
    }

    /// Samples with an older id are of a stream that was left running.
    @Test func samplesOfTheLastStart_andNoOthers_areRead() {
        var driver = CT3Driver(model: .avhzyCT3)
        let stream = id(driver.opening()[1].bytes)
        #expect(readings(sample(stream &- 1) + sample(stream) + sample(stream &+ 1) + sample(stream), &driver) == 2)
        #expect(readings(sample(stream &- 1, middle: 100) + sample(stream, middle: 100), &driver) == 1)
    }

    @Test func answer_isAcknowledged_andOtherMessagesAreNothing() {
        var driver = CT3Driver(model: .avhzyCT3)
        _ = driver.opening()
        var acknowledged = 0
        var others = 0
        let other = CT3Framing.frame([0x0A, 2, 0x0E, 0x80, 0, 0, 0, 0])
        driver.receive(CT3Framing.frame([1, 7, 1, 0x80]) + other) { event in
            if case .acknowledged = event { acknowledged += 1 } else { others += 1 }
        }
        #expect((acknowledged, others) == (1, 0))
    }

    @Test func poll_isQuiet_whileSamplesCome() {
        var driver = CT3Driver(model: .avhzyCT3)
        let stream = id(driver.opening()[1].bytes)
        #expect(driver.poll().isEmpty)
        for _ in 0..<20 {
            _ = readings(sample(stream), &driver)
            #expect(driver.poll().isEmpty)
        }
    }

    /// The first silent poll may follow the start at once. Then a stop, and a start with an id of its own, over and over.
    @Test func silence_isAnsweredByAStop_andThenAStart() {
        var driver = CT3Driver(model: .avhzyCT3)
        let first = id(driver.opening()[1].bytes)
        #expect((1...6).map { _ in command(driver.poll()) } == [nil, 0x07, 0x09, nil, 0x07, 0x09])

        let stop = driver.poll().isEmpty ? driver.poll() : []
        #expect(command(stop) == 0x07)
        let start = driver.poll()
        #expect(id(start) != first)
        #expect(readings(sample(first), &driver) == 0)
        #expect(readings(sample(id(start)), &driver) == 1)
        #expect(driver.poll().isEmpty)
    }

    /// The second silence begins anew with a poll that waits.
    @Test func silenceAfterSamples_waitsOncemore() {
        var driver = CT3Driver(model: .avhzyCT3)
        let stream = id(driver.opening()[1].bytes)
        #expect(driver.poll().isEmpty)
        _ = readings(sample(stream), &driver)
        #expect(driver.poll().isEmpty)
        #expect(driver.poll().isEmpty)
        #expect(command(driver.poll()) == 0x07)
    }

    /// A sample of another stream does not count as life, nor does rubbish.
    @Test func strangers_areNoLife() {
        var driver = CT3Driver(model: .avhzyCT3)
        let stream = id(driver.opening()[1].bytes)
        #expect(driver.poll().isEmpty)
        _ = readings(sample(stream &+ 7) + [0, 1, 2], &driver)
        #expect(command(driver.poll()) == 0x07)
    }

    @Test func ids_wrap() {
        var driver = CT3Driver(model: .avhzyCT3)
        var last: UInt8 = 0
        for _ in 0..<200 { last = id(driver.opening()[1].bytes) }
        #expect(last == UInt8(truncatingIfNeeded: 400))
        #expect(readings(sample(last), &driver) == 1)
    }

    @Test func closing_stops() {
        var driver = CT3Driver(model: .avhzyC3)
        #expect(driver.closing().map { command($0.bytes) } == [0x07])
        #expect(throws: CodecError.unsupportedCommand(.rotate, model: .avhzyC3)) {
            try driver.encode(MeterCommand(.rotate))
        }
    }
}

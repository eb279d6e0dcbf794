import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedCT3Tests {
    private func readings(_ written: [[UInt8]]) -> [Reading] {
        var decoder = CT3Decoder()
        decoder.append(written.flatMap { $0 })
        var readings: [Reading] = []
        while let step = decoder.next() {
            if case .frame(let frame) = step { frame.forEachReading { readings.append($0) } }
        }
        return readings
    }

    private func start(_ interval: Int32, id: UInt8 = 1) -> [UInt8] {
        CT3Request.start(interval_ms: interval).bytes(id: id)
    }

    @Test func nothing_comesBeforeTheStart_andNothingAfterTheStop() {
        var meter = SimulatedCT3()
        #expect(meter.nextDue == nil)
        #expect(meter.due(at: .seconds(5)).isEmpty)
        #expect(meter.receive(start(10), at: .seconds(5)) == [CT3Framing.frame([1, 9, 1, 0x80])])
        #expect(meter.nextDue == .milliseconds(5010))
        #expect(meter.due(at: .milliseconds(5009)).isEmpty)
        #expect(readings(meter.due(at: .seconds(6))).count == 100)
        #expect(meter.receive(CT3Request.stop.bytes(id: 2), at: .seconds(6)) == [CT3Framing.frame([1, 7, 2, 0x80])])
        #expect(meter.due(at: .seconds(7)).isEmpty)
    }

    @Test func pace_isWhatWasAskedFor_andNeverNothing() {
        var meter = SimulatedCT3()
        _ = meter.receive(start(1), at: .zero)
        #expect(meter.due(at: .milliseconds(500)).count == 500)
        _ = meter.receive(start(0), at: .milliseconds(500))
        #expect(meter.due(at: .milliseconds(600)).count == 100)
    }

    /// Requests in pieces, behind rubbish, and two in one write.
    @Test func requests_areFoundInAStream() {
        var meter = SimulatedCT3()
        let bytes: [UInt8] = [0xA5, 0x00, 0x07] + start(10)
        var answers: [[UInt8]] = []
        for byte in bytes { answers += meter.receive([byte], at: .zero) }
        #expect(answers.count == 1)
        #expect(meter.receive(CT3Request.stop.bytes(id: 3) + start(10, id: 4), at: .zero).count == 2)
        var broken = start(10)
        broken[9] ^= 1
        #expect(meter.receive(broken, at: .zero).isEmpty)
    }

    @Test func samples_haveTheIdOfTheirStart_andTheMetersClock() throws {
        var meter = SimulatedCT3()
        _ = meter.receive(start(10, id: 9), at: .zero)
        let frame = try #require(meter.due(at: .milliseconds(10)).first)
        #expect(frame.count == 35)
        #expect(frame[5...8] == [0x04, 0, 9, 0])
        #expect(frame[25..<33].elementsEqual([0x10, 0x27, 0, 0, 0, 0, 0, 0]))
    }

    /// A driver on a meter that another program has left running.
    @Test func driver_readsAMeterThatWasLeftRunning_andStartsItAgainAfterAPowerCycle() {
        var meter = SimulatedCT3()
        var driver = CT3Driver(model: .avhzyCT3)
        _ = meter.receive(start(1, id: 200), at: .zero)
        var count = 0
        func hear(_ written: [[UInt8]]) {
            for bytes in written {
                driver.receive(bytes) { if case .frame(let frame) = $0 { frame.forEachReading { _ in count += 1 } } }
            }
        }
        hear(meter.due(at: .milliseconds(90)))
        #expect(count == 0)
        let opening = driver.opening()
        hear(meter.receive(opening[0].bytes, at: .milliseconds(100)))
        hear(meter.receive(opening[1].bytes, at: .milliseconds(350)))
        hear(meter.due(at: .milliseconds(1350)))
        #expect(count == 100)

        meter.powerCycle()
        count = 0
        for second in 0...5 {
            hear(meter.due(at: .seconds(second)))
            hear(meter.receive(driver.poll(), at: .seconds(second)))
        }
        #expect(count >= 100)
    }

    @Test func longPause_isNotSentInOneGo() {
        var meter = SimulatedCT3()
        _ = meter.receive(start(10), at: .zero)
        #expect((100...102).contains(meter.due(at: .seconds(60)).count))
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func fault_spoilsItsSample_andNoOther(kind: SimulatorFaults.Kind) {
        var meter = SimulatedCT3()
        _ = meter.receive(start(10), at: .zero)
        meter.faults = SimulatorFaults(kind, every: 10)
        #expect(readings(meter.due(at: .seconds(1))).count == (kind == .shifted ? 100 : 90))
    }
}

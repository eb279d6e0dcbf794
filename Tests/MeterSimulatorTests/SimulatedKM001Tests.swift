import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedKM001Tests {
    private func readings(_ written: [[UInt8]], _ dialect: KM001Dialect) -> [Reading] {
        var decoder = KM001Decoder(dialect)
        decoder.append(written.flatMap { $0 })
        var readings: [Reading] = []
        while let step = decoder.next() {
            if case .frame(let frame) = step { frame.forEachReading { readings.append($0) } }
        }
        return readings
    }

    @Test func km001Pro_sends200Samples_atThePaceThatWasChosen() {
        var meter = SimulatedKM001()
        #expect(meter.nextDue == nil)
        _ = meter.receive(KM001Request.rate(.every10ms).bytes(for: .km001Pro), at: .zero)
        #expect(meter.nextDue == nil)
        let between = meter.receive(KM001Request.samples.bytes(for: .km001Pro), at: .zero)
        #expect(between.count == 1)
        #expect(readings(between, .km001Pro).isEmpty)
        #expect(meter.nextDue == .milliseconds(10))
        #expect(readings(meter.due(at: .seconds(1)), .km001Pro).count == 100)
        #expect(meter.due(at: .seconds(60)).count == 100)
        #expect(meter.nextDue == nil)
    }

    /// A request before the last samples are sent prolongs them, without a gap and without a second row.
    @Test func requestInTime_keepsThePace() {
        var meter = SimulatedKM001()
        _ = meter.receive(KM001Request.rate(.every2ms).bytes(for: .km001Pro), at: .zero)
        var count = 0
        for step in 0..<10 {
            _ = meter.receive(KM001Request.samples.bytes(for: .km001Pro), at: .milliseconds(200 * step))
            count += meter.due(at: .milliseconds(200 * step + 200)).count
        }
        #expect(count == 1000)
    }

    @Test(arguments: [
        (KM001Request.Rate.every100ms, 10), (.every20ms, 50), (.every10ms, 100), (.every2ms, 200),
    ])
    func everyPace_isKept(rate: KM001Request.Rate, perSecond: Int) {
        var meter = SimulatedKM001()
        _ = meter.receive(KM001Request.rate(rate).bytes(for: .km001Pro), at: .zero)
        _ = meter.receive(KM001Request.samples.bytes(for: .km001Pro), at: .zero)
        #expect(meter.due(at: .seconds(1)).count == perSecond)
    }

    @Test func acd15p_sendsOneSample_forEachRequest() throws {
        var meter = SimulatedKM001(model: .acd15p, dialect: .acd15p)
        let reading = try #require(
            readings(meter.receive(KM001Request.samples.bytes(for: .acd15p), at: .zero), .acd15p).first)
        #expect(reading[.cc1] == 1.68)
        #expect(abs(try #require(reading[.power]) - (reading[.voltage] ?? 0) * (reading[.current] ?? 0)) < 1e-5)
        #expect(meter.nextDue == nil)
        #expect(meter.due(at: .seconds(9)).isEmpty)
    }

    /// Nor one with a byte that is wrong.
    @Test func requestOfTheOtherDialect_isNotAnswered() {
        var meter = SimulatedKM001()
        #expect(meter.receive(KM001Request.samples.bytes(for: .acd15p), at: .zero).isEmpty)
        #expect(meter.nextDue == nil)
        var other = SimulatedKM001(model: .c13p, dialect: .acd15p)
        #expect(other.receive(KM001Request.samples.bytes(for: .km001Pro), at: .zero).isEmpty)
        #expect(other.receive(KM001Request.rate(.every2ms).bytes(for: .acd15p), at: .zero).isEmpty)
        var broken = KM001Request.samples.bytes(for: .acd15p)
        broken[6] ^= 1
        #expect(other.receive(broken, at: .zero).isEmpty)
    }

    @Test func powerCycle_forgetsThePace() {
        var meter = SimulatedKM001()
        let request = KM001Request.samples.bytes(for: .km001Pro)
        _ = meter.receive(KM001Request.rate(.every2ms).bytes(for: .km001Pro), at: .zero)
        _ = meter.receive(request, at: .zero)
        meter.powerCycle()
        #expect(meter.nextDue == nil)
        _ = meter.receive(request, at: .zero)
        #expect(meter.nextDue == .milliseconds(100))
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func fault_spoilsItsReport_andNoOther(kind: SimulatorFaults.Kind) {
        var meter = SimulatedKM001(interval: .milliseconds(10))
        meter.faults = SimulatorFaults(kind, every: 10)
        _ = meter.receive(KM001Request.samples.bytes(for: .km001Pro), at: .zero)
        #expect(readings(meter.due(at: .seconds(1)), .km001Pro).count == (kind == .shifted ? 100 : 90))
    }
}

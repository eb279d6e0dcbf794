import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedWITRNTests {
    private func frames(_ reports: [[UInt8]]) -> [Frame] {
        var decoder = WITRNDecoder()
        return frames(reports, with: &decoder)
    }

    private func frames(_ reports: [[UInt8]], with decoder: inout WITRNDecoder) -> [Frame] {
        decoder.append(reports.flatMap { $0 })
        var frames: [Frame] = []
        while let step = decoder.next() {
            if case .frame(let frame) = step { frames.append(frame) }
        }
        return frames
    }

    private func readings(_ frames: [Frame]) -> [Reading] {
        var readings: [Reading] = []
        for frame in frames { frame.forEachReading { readings.append($0) } }
        return readings
    }

    @Test func reports_comeEvery10Milliseconds_by64Bytes() {
        var meter = SimulatedWITRN(model: .witrnU3)
        #expect(meter.nextDue == .milliseconds(10))
        #expect(meter.due(at: .milliseconds(9)).isEmpty)
        #expect(meter.due(at: .milliseconds(10)).count == 1)
        let second = meter.due(at: .milliseconds(1010))
        #expect(second.count == 100)
        #expect(second.allSatisfy { $0.count == 64 })
        #expect(readings(frames(second)).count == 100)
    }

    @Test func clock_goesOn_byTenMilliseconds() {
        var meter = SimulatedWITRN(model: .witrnU3)
        var clocks = frames(meter.due(at: .milliseconds(500))).compactMap { $0.content.powerDelivery?.milliseconds }
        clocks += frames(meter.due(at: .milliseconds(1500))).compactMap { $0.content.powerDelivery?.milliseconds }
        #expect(clocks == (1...150).map { UInt32(10 * $0) })
    }

    @Test func values_areItsLoads_andItCounts() throws {
        let load = ElectricalLoad()
        var meter = SimulatedWITRN(model: .witrnU3, load: load)
        let reading = try #require(readings(frames(meter.due(at: .seconds(36)))).last)
        let state = load.state(step: 3600, length: 0.01)
        #expect(abs(try #require(reading[.voltage]) - state.voltage) < 1e-5)
        #expect(abs(try #require(reading[.current]) - state.current) < 1e-5)
        // A hundredth of an hour at about 1.5 A and 5 V.
        #expect(abs(try #require(reading[.charge]) - 15) < 0.5)
        #expect(abs(try #require(reading[.energy]) - 0.075) < 0.005)
        #expect(reading[.duration] == 36)
        #expect(reading[.temperature] == nil)
    }

    @Test func probe_isShown_whereThereIsOne() {
        var meter = SimulatedWITRN(model: .witrnU3)
        meter.probe = 31.5
        #expect(readings(frames(meter.due(at: .milliseconds(10)))).first?[.temperature] == 31.5)
    }

    /// A K2 hears a charger and a phone agree on 9 V; a U3 hears nothing.
    @Test func powerDelivery_isHeardByThoseThatCan() throws {
        var meter = SimulatedWITRN(model: .witrnK2)
        var timeline = PDTimeline()
        var decoder = WITRNDecoder()
        for second in 1...4 {
            for frame in frames(meter.due(at: .seconds(second)), with: &decoder) {
                guard let report = frame.content.powerDelivery else { continue }
                timeline.add(report, at: WallTime(millisecondsSince1970: Int64(report.milliseconds)))
            }
        }
        let contract = try #require(timeline.contract)
        #expect(contract.description.contains("9"))
        #expect(timeline.entries.contains { $0.kind.name == "voltage" && $0.level.voltage_mV > 8500 })
        #expect(timeline.entries.filter { $0.kind.name == "message" }.count == 8)

        var silent = SimulatedWITRN(model: .witrnU3)
        let events = (1...4).flatMap { frames(silent.due(at: .seconds($0))) }
            .flatMap { $0.content.powerDelivery?.events ?? [] }
        #expect(events.isEmpty)
    }

    @Test func negotiation_comesAnewEveryTenMinutes() {
        var meter = SimulatedWITRN(model: .witrnK2)
        var messages = 0
        var decoder = WITRNDecoder()
        for half in 1...2500 where half <= 10 || half >= 1198 && half <= 1210 {
            messages += frames(meter.due(at: .milliseconds(500 * half)), with: &decoder)
                .reduce(0) { $0 + ($1.content.powerDelivery?.events.count ?? 0) }
        }
        #expect(messages == 16)
    }

    @Test func whatIsWritten_isCounted_andNeverAnswered() {
        var meter = SimulatedWITRN()
        #expect(meter.receive([UInt8](repeating: 0, count: 64), at: .zero).isEmpty)
        #expect(meter.receivedCount == 64)
    }

    @Test func powerCycle_beginsItsClockAnew_andKeepsItsRecord() throws {
        var meter = SimulatedWITRN(model: .witrnU3)
        let before = try #require(readings(frames(meter.due(at: .seconds(36)))).last)
        meter.powerCycle()
        let frame = try #require(frames(meter.due(at: .milliseconds(10))).first)
        #expect(frame.content.powerDelivery?.milliseconds == 10)
        let after = try #require(readings([frame]).first)
        #expect(try #require(after[.charge]) >= (try #require(before[.charge])))
    }

    /// After a pause only what a kernel would have kept comes, and the time in between is counted.
    @Test func longPause_isNotSentInOneGo() throws {
        var meter = SimulatedWITRN(model: .witrnU3)
        let reports = meter.due(at: .seconds(100))
        #expect(reports.count == 100)
        #expect(abs(try #require(readings(frames(reports)).last?[.charge]) - 41.5) < 1)
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func fault_spoilsItsReport_andNoOther(kind: SimulatorFaults.Kind) {
        var meter = SimulatedWITRN(model: .witrnU3)
        meter.faults = SimulatorFaults(kind, every: 10)
        var driver = WITRNDriver(model: .witrnU3)
        var count = 0
        for report in meter.due(at: .seconds(1)) {
            driver.receive(report) { if case .frame = $0 { count += 1 } }
        }
        #expect(count == (kind == .shifted ? 100 : 90))
    }
}

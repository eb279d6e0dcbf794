package import Domain
import MeterCodec

/// A simulated WITRN meter (Docs/Protocols/WITRN.md). Sends a report every 10 ms and ignores all input.
///
/// A K2 or C5 also reports CC messages: every ten minutes a charger and a phone agree on 9 V.
package struct SimulatedWITRN: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    /// Temperature of the external probe in degrees Celsius; nil without a probe. A captured C5 then reports about -75.
    package var probe: Double?
    /// Number of bytes written to the meter, for tests: drivers must never send anything to a real one.
    package private(set) var receivedCount = 0
    private let load: ElectricalLoad
    private let period: Duration
    private let hearsPD: Bool
    private var counter = EnergyCounter()
    private var countedSteps = 0
    private var lastStep = 0
    private var told = 0
    private var sent = 0

    /// - Parameters:
    ///   - model: only a K2 and a C5 report USB PD.
    ///   - period: interval of reports; 10 ms on a real meter, at least 1 ms.
    package init(
        model: ModelName = .witrnK2, load: ElectricalLoad = ElectricalLoad(), period: Duration = .milliseconds(10)
    ) {
        self.model = model
        self.load = load
        self.period = max(period, .milliseconds(1))
        hearsPD = WITRNFamily().modelsHearingPD.contains(model)
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        receivedCount += bytes.count
        return []
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        let last = time.wholeSteps(of: period)
        var written: [[UInt8]] = []
        // Skip all but the last `backlog` reports: no host read the earlier ones in time.
        if last - lastStep > Self.backlog { advance(to: last - Self.backlog) }
        while lastStep < last {
            advance(to: lastStep + 1)
            for message in messages(until: period * lastStep) { push(message, &written) }
            push(report(), &written)
        }
        return written
    }

    package var nextDue: Duration? { period * (lastStep + 1) }

    /// Keeps the counters, and resets the meter's clock.
    package mutating func powerCycle() {
        lastStep = 0
        told = 0
    }

    /// Maximum number of waiting reports, similar to the kernel's buffer (drivers/hid/hidraw.c: 64).
    private static let backlog = 100

    private mutating func push(_ report: [UInt8], _ written: inout [[UInt8]]) {
        sent += 1
        if let report = faults.apply(to: report, number: sent, checkOffset: 63) { written.append(report) }
    }

    private var stepLength: Double { Double(period.nanoseconds) / 1e9 }

    private mutating func advance(to step: Int) {
        // Simulate at most 30,000 steps, because more would block the simulator.
        for passed in max(lastStep, step - 30_000)..<step {
            counter.add(state(at: passed), seconds: stepLength)
        }
        countedSteps += step - lastStep
        lastStep = step
    }

    // MARK: What it measures

    private func state(at step: Int) -> ElectricalLoad.State {
        var state = load.state(step: step, length: stepLength)
        guard hearsPD, isRaised(at: period * step) else { return state }
        // The contract raises the voltage from 5 V to 9 V at the same power.
        state.voltage *= 1.8
        state.current /= 1.8
        return state
    }

    private func isRaised(at time: Duration) -> Bool {
        let now = Int(clamping: time.milliseconds) % Self.cycle
        return now >= (Self.script.last?.milliseconds ?? 0)
    }

    private func report() -> [UInt8] {
        let state = state(at: lastStep)
        let now = Int(clamping: (period * lastStep).milliseconds)
        let (seconds, fraction) = now.quotientAndRemainder(dividingBy: 1000)
        // According to fqueze/usb-power-profiling, bytes 4, 5 and 7 are the milliseconds within the second divided by
        // 30, 100 and 80.
        var report: [UInt8] = [WITRNReport.startMark.0, WITRNReport.startMark.1]
        report += [seconds, fraction, fraction / 30, fraction / 100, fraction % 100, fraction / 80].map(Self.low)
        report += [WITRNReport.measurement, 52, 0, 0]
        report.appendLE(UInt16(80))
        report.appendLE(Float(counter.charge_mAh / 1000))
        report.appendLE(Float(counter.energy_mWh / 1000))
        report.appendLE(UInt32(clamping: Int(Double(countedSteps) * stepLength)))
        report.appendLE(UInt32(clamping: seconds))
        report.appendLE(Float(state.dataPlus))
        report.appendLE(Float(state.dataMinus))
        report.appendLE(Float(25))
        report.appendLE(Float(probe ?? -75))
        report.appendLE(Float(state.voltage))
        report.appendLE(Float(state.current))
        report += [0, hearsPD ? 17 : 0, 0, 8, 0x80, 6, 0, 0x20]
        let checks = (report + [0, 0]).withUnsafeBytes { WITRNReport.checks($0) }
        return report + [checks.payload, checks.whole]
    }

    private static func low(_ number: Int) -> UInt8 { UInt8(truncatingIfNeeded: number) }

    // MARK: What it hears

    /// Period in milliseconds after which the messages repeat.
    private static let cycle = 600_000

    private struct Line {
        var milliseconds: Int
        var bytes: [UInt8]
    }

    /// Messages, with milliseconds since the start of the cycle. The offers are from a captured charger (km003c-rs,
    /// km003c-lib/tests/pd_tests.rs): 5 V and 9 V with 3 A, and a programmable voltage.
    private static let script: [Line] = [
        (2000, [0xA1, 0x33, 0x2C, 0x91, 0x01, 0x08, 0x2C, 0xD1, 0x02, 0x00, 0x3C, 0x21, 0xDC, 0xC0]),
        (2001, [0x81, 0x02]),
        (2006, [0x82, 0x10, 0xDC, 0x70, 0x03, 0x23]),
        (2007, [0xA1, 0x01]),
        (2010, [0xA3, 0x05]),
        (2011, [0x81, 0x04]),
        (2150, [0xA6, 0x07]),
        (2151, [0x81, 0x06]),
    ].map { Line(milliseconds: $0.0, bytes: $0.1) }

    private mutating func messages(until time: Duration) -> [[UInt8]] {
        guard hearsPD else { return [] }
        let now = Int(clamping: time.milliseconds)
        // Skip messages of earlier cycles: no host read them in time.
        told = max(told, (now / Self.cycle) * Self.script.count)
        var reports: [[UInt8]] = []
        while true {
            let (round, place) = told.quotientAndRemainder(dividingBy: Self.script.count)
            let line = Self.script[place]
            guard round * Self.cycle + line.milliseconds <= now else { return reports }
            told += 1
            let report = [WITRNPowerDelivery.startMark, UInt8(line.bytes.count + 1), 0xE0] + line.bytes
            reports.append(report + [UInt8](repeating: 0, count: WITRNReport.length - report.count))
        }
    }
}

package import Domain
import MeterCodec

/// A simulated ZY1280 or ZY1276 (Docs/Protocols/ZY1280.md). Sends a report every 250 ms; counts energy, charge and the
/// time during which a current flows. Ignores all input.
package struct SimulatedZY1280: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    private let load: ElectricalLoad
    private let period: Duration
    private var counter = EnergyCounter()
    /// Total time during which a current flowed, in hundredths of a second.
    private var flowing = 0.0
    private var lastStep = 0
    private var sent = 0

    /// - Parameter period: interval of reports; 250 ms on a real meter.
    package init(
        model: ModelName = .zy1280, load: ElectricalLoad = ElectricalLoad(), period: Duration = .milliseconds(250)
    ) {
        self.model = model
        self.load = load
        self.period = max(period, .milliseconds(10))
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] { [] }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        let last = time.wholeSteps(of: period)
        var written: [[UInt8]] = []
        // Skip all but the last `backlog` reports: no host read the earlier ones in time.
        if last - lastStep > Self.backlog { advance(to: last - Self.backlog) }
        while lastStep < last {
            advance(to: lastStep + 1)
            sent += 1
            if let report = faults.apply(to: report(), number: sent, checkOffset: ZY1280Report.length - 1) {
                written.append(report)
            }
        }
        return written
    }

    package var nextDue: Duration? { period * (lastStep + 1) }

    /// Simulates a power cut; keeps the energy counters.
    package mutating func powerCycle() { lastStep = 0 }

    private static let backlog = 40

    private var stepLength: Double { Double(period.nanoseconds) / 1e9 }

    private mutating func advance(to step: Int) {
        // Simulate at most 30,000 steps, because more would block the simulator.
        for passed in max(lastStep, step - 30_000)..<step {
            let state = load.state(step: passed, length: stepLength)
            counter.add(state, seconds: stepLength)
            if state.power > 0 { flowing += 100 * stepLength }
        }
        lastStep = step
    }

    private func report() -> [UInt8] {
        let state = load.state(step: lastStep, length: stepLength)
        var report = ZY1280Report.mark
        report.appendLE(Int32(clamping: Self.whole(state.voltage * 1e4)))
        report.appendLE(Int32(clamping: Self.whole(state.current * 1e4)))
        report.appendLE(UInt32(clamping: Self.whole(counter.charge_mAh * 10)))
        report.appendLE(UInt32(clamping: Self.whole(counter.energy_mWh * 10)))
        report.appendLE(UInt32(clamping: Self.whole(flowing)))
        report.appendLE(UInt16(clamping: Self.whole(state.dataMinus * 1000)))
        report.appendLE(UInt16(clamping: Self.whole(state.dataPlus * 1000)))
        return report + [(report + [0]).withUnsafeBytes { ZY1280Report.check($0) }]
    }

    private static func whole(_ value: Double) -> Int { Int(value.rounded()) }
}

package import Domain
import MeterCodec

/// A simulated FL001 Super (Docs/Protocols/FL001.md). Pushes a report every 32 ms and ignores all input.
package struct SimulatedFL001: SimulatedMeter {
    package let model = ModelName.fl001
    package var faults = SimulatorFaults.none
    private let load: ElectricalLoad
    private let period: Duration
    private var next: Duration
    private var sent = 0

    /// Maximum number of waiting reports, as in the kernel's buffer for a late reader (drivers/hid/hidraw.c).
    private static let backlog = 64

    /// - Parameter period: time between two reports, at least 1 ms.
    package init(
        load: ElectricalLoad = ElectricalLoad(), period: Duration = .milliseconds(FL001Report.interval_ms)
    ) {
        self.load = load
        self.period = max(period, .milliseconds(1))
        next = self.period
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] { [] }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        next = max(next, period * (time.wholeSteps(of: period) - Self.backlog + 1))
        var written: [[UInt8]] = []
        while next <= time {
            sent += 1
            if let report = faults.apply(to: report(at: next), number: sent, checkOffset: 20) { written.append(report) }
            next += period
        }
        return written
    }

    package var nextDue: Duration? { next }

    package mutating func powerCycle() { next = period }

    private func report(at time: Duration) -> [UInt8] {
        let state = load.state(step: time.wholeSteps(of: .milliseconds(1)), length: 0.001)
        var report = FL001Report.mark
        for value in [
            state.voltage, state.current, state.power, state.dataPlus, state.dataMinus, state.temperature,
            state.temperature,
        ] { report.appendBE(Float(value).bitPattern) }
        // The published example of the bytes of unknown meaning (fqueze/usb-power-profiling usb-power-profiling.js).
        report += [0x01, 0x00, 0x03] + [UInt8](repeating: 0, count: 18) + [0x06, 0x01]
        report += [UInt8](repeating: 0, count: 6) + [0x28, 0x08]
        report.appendLE(Checksum.crc16Modbus(report))
        return report
    }
}

package struct FL001Simulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .fl001 }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedFL001(load: options.load(), period: options.refresh ?? .milliseconds(FL001Report.interval_ms))
    }
}

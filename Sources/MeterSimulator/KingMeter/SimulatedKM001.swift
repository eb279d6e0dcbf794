package import Domain
package import MeterCodec

/// A simulated KM001 Pro, ACD15P or C13P (Docs/Protocols/KM001.md). On request, sends one sample, or 200 samples at the
/// chosen rate. Ignores malformed requests and those in another model's dialect.
package struct SimulatedKM001: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    private let dialect: KM001Dialect
    private let load: ElectricalLoad
    private let fixedInterval: Duration?
    private var interval: Duration
    /// Number of samples still to send.
    private var left = 0
    private var next = Duration.zero
    private var sent = 0

    /// Number of samples that a KM001 Pro sends for a request (fqueze/usb-power-profiling).
    static let samplesPerRequest = 200

    /// - Parameter interval: interval of samples; nil for the host's choice.
    package init(
        model: ModelName = .km001Pro, dialect: KM001Dialect = .km001Pro, load: ElectricalLoad = ElectricalLoad(),
        interval: Duration? = nil
    ) {
        self.model = model
        self.dialect = dialect
        self.load = load
        fixedInterval = interval.map { max($0, .milliseconds(1)) }
        self.interval = fixedInterval ?? .milliseconds(100)
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: KM001Report.length).flatMap { start in
            obey(Array(bytes[start..<min(start + KM001Report.length, bytes.count)]), at: time)
        }
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        var written: [[UInt8]] = []
        while left > 0, next <= time {
            let moment = next
            left -= 1
            next += interval
            written += push(sample(at: moment))
        }
        return written
    }

    package var nextDue: Duration? { left > 0 ? next : nil }

    package mutating func powerCycle() {
        left = 0
        interval = fixedInterval ?? .milliseconds(100)
    }

    private mutating func obey(_ report: [UInt8], at time: Duration) -> [[UInt8]] {
        let rates = KM001Request.Rate.allCases.map { KM001Request.rate($0) }
        switch ([.samples] + rates).first(where: { $0.bytes(for: dialect) == report }) {
        case .samples where dialect == .acd15p: return push(sample(at: time))
        case .samples:
            if left == 0 { next = time + interval }
            left = Self.samplesPerRequest
            // A report of unknown meaning between samples: zeros after the mark.
            let mark = [KM001Report.startMark, 0x40] + KM001Report.mark
            return [mark + [UInt8](repeating: 0, count: KM001Report.length - mark.count)]
        case .rate(let rate) where dialect == .km001Pro: interval = fixedInterval ?? Self.interval(of: rate)
        default: break
        }
        return []
    }

    private static func interval(of rate: KM001Request.Rate) -> Duration {
        switch rate {
        case .every100ms: .milliseconds(100)
        case .every20ms: .milliseconds(20)
        case .every10ms: .milliseconds(10)
        case .every2ms: .milliseconds(2)
        }
    }

    private mutating func push(_ report: [UInt8]) -> [[UInt8]] {
        sent += 1
        return faults.apply(to: report, number: sent, checkOffset: 2).map { [$0] } ?? []
    }

    private func sample(at time: Duration) -> [UInt8] {
        let state = load.state(step: time.wholeSteps(of: .milliseconds(1)), length: 0.001)
        var report: [UInt8] = [KM001Report.startMark, dialect == .km001Pro ? 0x25 : 0x40] + KM001Report.mark
        report += dialect == .km001Pro ? [0x01] : [0x00, 0xEB, 0x01]
        for value in [state.voltage, state.current, state.power] { report.appendLE(Self.millionths(value)) }
        switch dialect {
        case .km001Pro:
            for value in [state.dataPlus, state.dataMinus] { report.appendLE(Int32((value * 1e3).rounded())) }
            for value in [state.voltage, state.current] { report.appendLE(Self.millionths(value)) }
            report.appendLE(UInt16(truncatingIfNeeded: Int((state.temperature * 10).rounded())))
            report.append(1)
        case .acd15p:
            // One CC line has the voltage of a source that offers 3 A; the other is open.
            for value in [state.dataPlus, state.dataMinus, 1.68, 0, state.temperature] {
                report.appendLE(Self.millionths(value))
            }
        }
        return report + [UInt8](repeating: 0, count: KM001Report.length - report.count)
    }

    private static func millionths(_ value: Double) -> Int32 { Int32(clamping: Int((value * 1e6).rounded())) }
}

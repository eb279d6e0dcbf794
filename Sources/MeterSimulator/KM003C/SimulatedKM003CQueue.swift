import Domain
import MeterCodec

/// Latest samples that the meter records while its graph (its own sampling) runs: about one second of them
/// (Docs/Protocols/KM003C.md#what-becomes-of-the-payloads).
struct SimulatedKM003CQueue: Sendable {
    /// Maximum number of samples in one answer, from the largest captured answer.
    static let longestAnswer = 48

    private let rate: KM003CRate
    private var nextSample: Int64
    /// Bytes of all samples. An array for each sample would be the simulator's largest cost.
    private var bytes: [UInt8] = []

    init(rate: KM003CRate, start: Duration) {
        self.rate = rate
        nextSample = start.milliseconds / Int64(rate.sequenceStep) + 1
    }

    private var capacity: Int { max(2, rate.samplesPerSecond) }

    mutating func fill(from load: ElectricalLoad, until time: Duration) {
        let step = Int64(rate.sequenceStep)
        let last = time.milliseconds / step
        // Do not compute samples that the full queue would drop immediately.
        nextSample = max(nextSample, last - Int64(capacity) + 1)
        while nextSample <= last {
            let milliseconds = nextSample * step
            let supply = SimulatedKM003CPower.supply(at: .milliseconds(milliseconds))
            let state = supply.feeding(load.state(step: Int(nextSample), length: Double(step) / 1000))
            append(state, supply, sequence: UInt16(truncatingIfNeeded: milliseconds))
            nextSample += 1
        }
        let most = capacity * KM003CQueueSample.length
        if bytes.count > most { bytes.removeFirst(bytes.count - most) }
    }

    mutating func take() -> (bytes: [UInt8], count: Int) {
        let taken = Array(bytes.prefix(Self.longestAnswer * KM003CQueueSample.length))
        bytes.removeFirst(taken.count)
        return (taken, taken.count / KM003CQueueSample.length)
    }

    private mutating func append(
        _ state: ElectricalLoad.State, _ supply: SimulatedKM003CPower.Supply, sequence: UInt16
    ) {
        let perVolt = KM003CLineStep(rate).perVolt
        let (cc1, cc2) = supply.cc_mV
        bytes.appendLE(sequence)
        bytes.appendLE(UInt16(0x3C))
        bytes.appendLE(Int32(clamping: Int((state.voltage * 1e6).rounded())))
        bytes.appendLE(Int32(clamping: Int((state.current * 1e6).rounded())))
        for value in [Double(cc1) / 1000, Double(cc2) / 1000, state.dataPlus, state.dataMinus] {
            bytes.appendLE(UInt16(clamping: Int((value * perVolt).rounded())))
        }
    }
}

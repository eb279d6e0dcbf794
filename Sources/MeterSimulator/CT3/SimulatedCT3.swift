package import Domain
import MeterCodec

/// A simulated CT-3 (Docs/Protocols/CT3.md). Samples at the requested rate from start to stop, even without a reader.
/// Answers each start and stop.
package struct SimulatedCT3: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    private let load: ElectricalLoad
    private let fixedInterval: Duration?
    private var stream: Stream?
    private var waiting: [UInt8] = []
    private var samples = 0

    private struct Stream: Sendable {
        var id: UInt8
        var interval: Duration
        var next: Duration
    }

    /// - Parameter interval: interval of samples; nil for the host's choice.
    package init(
        model: ModelName = .avhzyCT3, load: ElectricalLoad = ElectricalLoad(), interval: Duration? = nil
    ) {
        self.model = model
        self.load = load
        fixedInterval = interval.map { max($0, .milliseconds(1)) }
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        waiting += bytes
        var answers: [[UInt8]] = []
        while let payload = takePayload() { answers += obey(payload, at: time) }
        return answers
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        var written: [[UInt8]] = []
        while let stream, stream.next <= time {
            // Skip older samples: no host read them in time.
            let next = max(stream.next, time - .seconds(1))
            self.stream?.next = next + stream.interval
            samples += 1
            let frame = sample(at: next, of: stream.id)
            if let frame = faults.apply(to: frame, number: samples, checkOffset: frame.count - 2) {
                written.append(frame)
            }
        }
        return written
    }

    package var nextDue: Duration? { stream?.next }

    package mutating func powerCycle() {
        stream = nil
        waiting = []
    }

    /// Returns the payload of the next request with a correct checksum. Drops bytes that start no request.
    private mutating func takePayload() -> [UInt8]? {
        while let start = waiting.firstIndex(of: CT3Framing.startMark) {
            waiting.removeFirst(start)
            guard waiting.count >= CT3Framing.headerLength else { return nil }
            let length = Int(waiting.withUnsafeBytes { $0.u32LE(1) })
            guard CT3Framing.payloadLengths.contains(length) else {
                waiting.removeFirst()
                continue
            }
            let whole = length + CT3Framing.overhead
            guard waiting.count >= whole else { return nil }
            let payload = Array(waiting[CT3Framing.headerLength..<(whole - 2)])
            let isGood = CT3Framing.frame(payload) == Array(waiting.prefix(whole))
            waiting.removeFirst(isGood ? whole : 1)
            if isGood { return payload }
        }
        waiting = []
        return nil
    }

    private mutating func obey(_ payload: [UInt8], at time: Duration) -> [[UInt8]] {
        guard payload[0] == 0x01 else { return [] }
        switch payload[1] {
        case CT3Request.stopCode: stream = nil
        case CT3Request.startCode where payload.count == 8:
            let asked = payload.withUnsafeBytes { Int64($0.i32LE(4)) }
            let interval = fixedInterval ?? .milliseconds(max(1, asked))
            stream = Stream(id: payload[2], interval: interval, next: time + interval)
        default: return []
        }
        // The first two bytes of a real answer are unpublished; repeat those of the request.
        return [CT3Framing.frame([payload[0], payload[1], payload[2], 0x80])]
    }

    /// Returns a sample of 28 bytes, eight of them with unknown meaning (zingo/Crazy_Capy_Randonneur
    /// tools/avhzy-monitor.py).
    private func sample(at time: Duration, of id: UInt8) -> [UInt8] {
        let state = load.state(step: time.wholeSteps(of: .milliseconds(1)), length: 0.001)
        var payload: [UInt8] = [0x04, 0, id, 0]
        payload.appendLE(Float(state.voltage))
        payload.appendLE(Float(state.current))
        payload += [UInt8](repeating: 0, count: 8)
        payload.appendLE(UInt64(max(0, time.nanoseconds) / 1000))
        return CT3Framing.frame(payload)
    }
}

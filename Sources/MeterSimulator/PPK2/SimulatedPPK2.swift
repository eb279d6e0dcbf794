package import Domain
import MeterCodec

/// A simulated PPK2 (Docs/Protocols/PPK2.md) with the published calibration of a real one. While it samples, it sends
/// 100,000 samples a second in blocks of 5 ms.
///
/// The measured device sleeps at a thousandth of the load's current and wakes for 5 ms in each 100 ms.
package struct SimulatedPPK2: SimulatedMeter {
    package let model = ModelName.ppk2
    package var faults = SimulatorFaults.none
    private let load: ElectricalLoad
    private var calibration: PPK2Metadata?
    private var isConnected = false
    /// The published metadata are those of a source (`mode: 2`).
    private var isSource = true
    private var voltage = 3741
    private var isSampling = false
    private var next = Duration.zero
    private var counter: UInt32 = 0
    private var sent = 0

    private static let blockLength = Duration.milliseconds(5)
    private static let samplesPerBlock = 5 * PPK2Decoder.samplesPerMillisecond
    /// Maximum number of blocks kept for a late reader; the samples of older blocks are lost.
    private static let backlog = 20

    /// Metadata of a real PPK2 (hdoordt/ppk2-rs src/types.rs).
    package static let metadata = Array(
        [
            "Calibrated: 0\n",
            lines("R", "1003.3506 101.5865 10.3027 0.9636 0.0564"),
            lines("GS", "0.0000 112.7890 18.0115 2.4217 0.0729"),
            lines("GI", "1.0000 0.9695 0.9609 0.9519 0.9582"),
            lines("O", "112.9420 75.4627 64.6020 50.4983 87.2177"),
            "VDD: 3741\nHW: 9173\nmode: 2\n",
            lines("S", "0.000000048 0.000000596 0.000005281 0.000062577 0.002940743"),
            lines("I", "-0.000000104 -0.000001443 0.000036439 -0.000374119 -0.009388455"),
            lines("UG", "1.00 1.00 1.00 1.00 1.00"),
            "IA: 56\nEND\n",
        ].joined().utf8)

    private static func lines(_ key: String, _ values: String) -> String {
        values.split(separator: " ").enumerated().map { "\(key)\($0): \($1)\n" }.joined()
    }

    package init(load: ElectricalLoad = ElectricalLoad(startCurrent: 0.02)) {
        self.load = load
        calibration = Self.metadata.withUnsafeBytes { PPK2Metadata($0) }
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        var rest = bytes[...]
        var written: [[UInt8]] = []
        while let request = Self.request(rest) {
            rest = rest.dropFirst(request.bytes.count)
            switch request {
            case .stop: isSampling = false
            case .metadata: push(Self.metadata, &written)
            case .ammeter: isSource = false
            case .source: isSource = true
            case .regulator(let millivolts):
                voltage = millivolts
                calibration?.regulate(to: millivolts)
            case .connectDevice: isConnected = true
            case .disconnectDevice: isConnected = false
            case .start: (isSampling, next) = (true, time + Self.blockLength)
            }
        }
        return written
    }

    private static func request(_ bytes: ArraySlice<UInt8>) -> PPK2Request? {
        if bytes.first == 0x0D, bytes.count >= 3 {
            return .regulator(Int(bytes[bytes.startIndex + 1]) << 8 | Int(bytes[bytes.startIndex + 2]))
        }
        let requests: [PPK2Request] = [
            .stop, .metadata, .ammeter, .source, .connectDevice, .disconnectDevice, .start,
        ]
        return requests.first { bytes.starts(with: $0.bytes) }
    }

    /// Voltage in millivolts that the PPK2 supplies; nil as an ammeter, or while the output is off.
    package var supplied_mV: Int? { isSource && isConnected ? voltage : nil }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        guard isSampling else { return [] }
        let late = (time - next).wholeSteps(of: Self.blockLength) - Self.backlog
        if late > 0 {
            next += Self.blockLength * late
            counter &+= UInt32(truncatingIfNeeded: late * Self.samplesPerBlock)
        }
        var written: [[UInt8]] = []
        while next <= time {
            push(block(at: next), &written)
            next += Self.blockLength
        }
        return written
    }

    package var nextDue: Duration? { isSampling ? next : nil }

    package mutating func powerCycle() { (isSource, isConnected, isSampling, counter) = (true, false, false, 0) }

    private mutating func push(_ bytes: [UInt8], _ written: inout [[UInt8]]) {
        sent += 1
        if let bytes = faults.apply(to: bytes, number: sent, checkOffset: 2) { written.append(bytes) }
    }

    private mutating func block(at time: Duration) -> [UInt8] {
        let number = time.wholeSteps(of: Self.blockLength)
        var current = 0.0
        if isConnected {
            current = load.state(step: number, length: 0.005).current * (number.isMultiple(of: 20) ? 1 : 0.001)
        }
        let (range, converter) = Self.reached(current, calibration?.ranges ?? InlineArray(repeating: PPK2Range()))
        var counter = counter
        let length = Self.samplesPerBlock * PPK2Sample.length
        let block = [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
            let words = UnsafeMutableRawBufferPointer(bytes)
            for place in 0..<Self.samplesPerBlock {
                // Simulate the converter's noise in its two lowest bits.
                let sample = PPK2Sample(converter: converter ^ counter & 3, range: range, counter: counter)
                words.storeBytes(
                    of: sample.word.littleEndian, toByteOffset: place * PPK2Sample.length, as: UInt32.self)
                counter &+= 1
            }
            count = length
        }
        self.counter = counter
        return block
    }

    /// Returns the lowest range that can measure the current, and the converter's number for it.
    private static func reached(
        _ current: Double, _ ranges: InlineArray<5, PPK2Range>
    ) -> (range: UInt32, converter: UInt32) {
        for range in 0..<5 {
            if let converter = ranges[range].converter(for: current), converter < 15_000 {
                return (UInt32(range), converter)
            }
        }
        return (4, 0x3FFF)
    }
}

package struct PPK2Simulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .ppk2 }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedPPK2(load: options.load(usual: ElectricalLoad(startCurrent: 0.02, seed: options.seed)))
    }
}

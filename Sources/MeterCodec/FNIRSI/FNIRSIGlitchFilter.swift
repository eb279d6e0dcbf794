import MeterModel

/// Removes single absurd currents from a stream of samples.
///
/// About one sample in 500 of an FNB-C2 is absurd although its packet's check is right: 1290, 2097 and 8388 mA were
/// seen against a floor of 55 mA. The rule is that of the one reader who looked into it (a bench logger for the FNB-C2,
/// 2.86 million samples in eight hours): a sample more than 150 mA away from the median of itself and its neighbours is
/// wrong, and is replaced by that median. A step that lasts for two samples, 20 ms, passes. The last sample of a packet
/// waits for the next packet if it may be wrong, and is passed on at once if it is close to the one before it.
package struct FNIRSIGlitchFilter: Sendable {
    /// In hundred-thousandths of an ampere: 150 mA.
    private static let deviationMax = 15_000
    /// The sample that waits for its neighbour, if any, and the current of the one before it.
    private var held: Sample?
    private var before: Int?

    private struct Sample {
        var bytes: [UInt8]
        var current: Int { bytes.withUnsafeBytes { Int($0.i32LE(FNIRSIUSBPacket.currentOffset)) } }

        func with(current: Int) -> [UInt8] {
            var other: [UInt8] = []
            other.appendLE(Int32(clamping: current))
            var bytes = bytes
            bytes.replaceSubrange(FNIRSIUSBPacket.currentOffset..<FNIRSIUSBPacket.currentOffset + 4, with: other)
            return bytes
        }
    }

    /// Nil for every model but the FNB-C2: on others a peak of one sample may be real.
    init?(for model: ModelName) {
        guard model == .fnbC2 else { return nil }
    }

    /// Takes a packet and returns what can be shown now, oldest first: a packet with the sample that was held back, if
    /// any, and the packet itself, which may lack its last sample.
    ///
    /// - Returns: the packets, and how many samples had their current replaced. A packet without samples is returned as
    ///   it is.
    package mutating func filter(_ packet: FNIRSIUSBPacket) -> (packets: [FNIRSIUSBPacket], replaced: Int) {
        let new = packet.samples.map(Sample.init)
        guard let last = new.last else { return ([packet], 0) }
        let isHeldBack = held != nil
        let all = (held.map { [$0] } ?? []) + new
        var shown: [[UInt8]] = []
        var replaced = 0
        for (place, sample) in all.enumerated() {
            let previous = place == 0 ? before : all[place - 1].current
            guard let previous, abs(sample.current - previous) > Self.deviationMax else {
                shown.append(sample.bytes)
                continue
            }
            guard place < all.count - 1 else { break }
            let median = Self.median(previous, sample.current, all[place + 1].current)
            let isWrong = abs(sample.current - median) > Self.deviationMax
            shown.append(isWrong ? sample.with(current: median) : sample.bytes)
            if isWrong { replaced += 1 }
        }
        held = shown.count < all.count ? last : nil
        before = held == nil ? last.current : all.dropLast().last?.current
        let late = isHeldBack ? [FNIRSIUSBPacket(samples: [shown[0]])] : []
        return (late + [FNIRSIUSBPacket(samples: Array(shown.dropFirst(late.count)))], replaced)
    }

    private static func median(_ first: Int, _ second: Int, _ third: Int) -> Int {
        max(min(first, second), min(max(first, second), third))
    }
}

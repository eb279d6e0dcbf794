/// Removes single wrong voltages and currents from a stream of samples.
///
/// About one current in 500 of an FNB-C2 is wrong, in a packet with a correct check. A bench logger recorded 1290, 2097
/// and 8388 mA while 55 mA flowed (2.86 million samples in eight hours). Another program saw 293 wrong samples in
/// 242,847 of an unnamed model, 221 of them voltages (hleserg/Attadipa docs/research).
///
/// As in the bench logger, a sample too far from the median of itself and its neighbours is replaced by this median. A
/// step of two samples, 20 ms, passes. A suspect last sample of a packet is delayed until the next packet.
package struct FNIRSIGlitchFilter: Sendable {
    /// Voltage and current, in hundred-thousandths of a volt and of an ampere.
    struct Level: Equatable, Sendable {
        var voltage: Int
        var current: Int

        /// Maximum deviations from the median, in the units of `Level`: 0.5 V, and 150 mA as in the bench logger (see
        /// `FNIRSIGlitchFilter`).
        static let voltageMax = 50_000
        static let currentMax = 15_000

        func isFar(from other: Level) -> Bool {
            abs(voltage - other.voltage) > Self.voltageMax || abs(current - other.current) > Self.currentMax
        }

        /// Replaces each value that is far from the median of the three levels by the median.
        func judged(between before: Level, and after: Level) -> Level {
            let (volts, amperes) = (
                Self.median(before.voltage, voltage, after.voltage), Self.median(before.current, current, after.current)
            )
            return Level(
                voltage: abs(voltage - volts) > Self.voltageMax ? volts : voltage,
                current: abs(current - amperes) > Self.currentMax ? amperes : current)
        }

        private static func median(_ first: Int, _ second: Int, _ third: Int) -> Int {
            max(min(first, second), min(max(first, second), third))
        }
    }

    private var neighbours = FNIRSINeighbours<FNIRSIUSBPacket.Sample>()

    package init() {}

    /// Returns the packets to show now, oldest first. A delayed sample comes first, in a separate packet. `packet` may
    /// lack its last sample, if that is delayed.
    package mutating func filter(_ packet: FNIRSIUSBPacket) -> [FNIRSIUSBPacket] {
        if neighbours.held == nil, let last = packet.calmLevel(after: neighbours.before) {
            neighbours.before = last
            return [packet]
        }
        let new = packet.samples
        guard !new.isEmpty else { return [packet] }
        let isHeldBack = neighbours.held != nil
        var shown: [(sample: FNIRSIUSBPacket.Sample, isReplaced: Bool)] = []
        for sample in new { neighbours.take(sample) { shown.append(($0, $1)) } }
        let late = isHeldBack ? [Array(shown.prefix(1))] : []
        return (late + [Array(shown.dropFirst(late.count))]).map { samples in
            FNIRSIUSBPacket(samples: samples.map(\.sample), replaced: samples.count(where: \.isReplaced))
        }
    }
}

protocol FNIRSISample: Sendable {
    var level: FNIRSIGlitchFilter.Level { get }
    func with(_ level: FNIRSIGlitchFilter.Level) -> Self
}

struct FNIRSINeighbours<Sample: FNIRSISample>: Sendable {
    /// The delayed sample; `before` is the previous sample's level.
    private(set) var held: Sample?
    var before: FNIRSIGlitchFilter.Level?

    /// Passes the delayed sample, if any, and then `sample` to `show`, or delays it if it is suspect.
    mutating func take(_ sample: Sample, _ show: (_ sample: Sample, _ isReplaced: Bool) -> Void) {
        if let held, let before {
            let judged = held.level.judged(between: before, and: sample.level)
            judged == held.level ? show(held, false) : show(held.with(judged), true)
            self.before = held.level
        }
        held = nil
        guard before.map({ sample.level.isFar(from: $0) }) ?? false else {
            before = sample.level
            return show(sample, false)
        }
        held = sample
    }
}

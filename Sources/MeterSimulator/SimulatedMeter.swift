package import Domain

/// A simulated meter as a value: receives the host's bytes and returns the meter's bytes, exactly as on the wire.
///
/// The value has no clock and no random numbers, so callers pass a seed and the time since power-on. The owner of the
/// value transfers the bytes (see SimulatedPort).
package protocol SimulatedMeter: Sendable {
    var model: ModelName { get }
    var faults: SimulatorFaults { get set }
    /// Processes bytes from the host. Returns the answers due immediately, one element for each write of the meter.
    mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]]
    /// Returns the bytes that the meter sends by itself at or before `time`.
    mutating func due(at time: Duration) -> [[UInt8]]
    /// Next time at which `due` returns bytes; nil while the meter waits for the host.
    var nextDue: Duration? { get }
    /// Switches the meter off and on. Volatile state is reset, stored state is kept, and time counts from 0 again.
    mutating func powerCycle()
}

/// A fault that affects every n-th answer, so that runs are repeatable.
package struct SimulatorFaults: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// The answer is truncated.
        case shortBlock = "short"
        /// The answer begins with a few stray bytes.
        case shifted
        case silence
        case wrongCheck = "wrong-check"
        /// The answer is replaced by random bytes.
        case garbage
    }

    package var kind: Kind?
    /// Interval of the fault in answers, at least 1: every `period`-th answer is affected.
    package private(set) var period: Int

    package init(_ kind: Kind? = nil, every period: Int = 1) {
        self.kind = kind
        self.period = max(1, period)
    }

    package static let none = SimulatorFaults()

    /// Applies the fault if this answer is affected.
    ///
    /// - Parameters:
    ///   - number: number of the answer, from 1.
    ///   - checkOffset: offset of the byte to corrupt for a wrong check.
    /// - Returns: nil if the fault suppresses the answer.
    package func apply(to answer: [UInt8], number: Int, checkOffset: Int) -> [UInt8]? {
        guard let kind, number % period == 0 else { return answer }
        var noise = SplitMix64(seed: UInt64(number))
        switch kind {
        case .shortBlock: return Array(answer.prefix(answer.count / 2))
        case .shifted: return noise.bytes(1 + number % 7) + answer
        case .silence: return nil
        case .garbage: return noise.bytes(answer.count)
        case .wrongCheck:
            var spoilt = answer
            if spoilt.indices.contains(checkOffset) { spoilt[checkOffset] ^= 0x5A }
            return spoilt
        }
    }
}

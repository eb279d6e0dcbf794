package import Domain

/// A simulated meter as a value: takes the host's bytes and returns the meter's, byte for byte as on the wire.
///
/// It has no clock and no random numbers: callers pass the time since power-on, and a seed. The owner of the value
/// moves the bytes (see SimulatedPort).
package protocol SimulatedMeter: Sendable {
    var model: ModelName { get }
    var faults: SimulatorFaults { get set }
    /// Takes bytes from the host. Returns the answers due at once, one element for each write of the meter.
    mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]]
    /// Returns what the meter sends by itself at or before `time`.
    mutating func due(at time: Duration) -> [[UInt8]]
    /// Next time at which `due` has something to send; nil while the meter waits for the host.
    var nextDue: Duration? { get }
    /// Switches the meter off and on: resets volatile state, keeps stored state. Time counts from 0 again.
    mutating func powerCycle()
}

/// Faults that affect every n-th answer, so that runs are repeatable.
package struct SimulatorFaults: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// The answer ends too early.
        case shortBlock = "short"
        /// A few stray bytes precede the answer.
        case shifted
        case silence
        case wrongCheck = "wrong-check"
        /// Random bytes in place of the answer.
        case garbage
    }

    package var kind: Kind?
    /// The fault affects every `period`-th answer; at least 1.
    package private(set) var period: Int

    package init(_ kind: Kind? = nil, every period: Int = 1) {
        self.kind = kind
        self.period = max(1, period)
    }

    package static let none = SimulatorFaults()

    /// Applies the fault if it is this answer's turn.
    ///
    /// - Parameters:
    ///   - number: number of the answer, from 1.
    ///   - checkOffset: offset of the byte to corrupt for a wrong check.
    /// - Returns: nil for no answer.
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

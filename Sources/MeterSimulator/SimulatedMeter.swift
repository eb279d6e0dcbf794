package import Domain

/// A simulated meter as a value: what a host writes goes in, and what the meter would send comes out, byte for byte as
/// on the wire.
///
/// There is no clock and no random number inside: the time since the meter was switched on is passed in, and what looks
/// random comes from a seed. The owner of the value moves the bytes (see SimulatedPort).
package protocol SimulatedMeter: Sendable {
    var model: ModelName { get }
    /// Faults to inject from now on.
    var faults: SimulatorFaults { get set }
    /// Takes bytes from the host. Returns the answers that are due at once, each as one write of the meter.
    mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]]
    /// What the meter sends by itself at or before `time`.
    mutating func due(at time: Duration) -> [[UInt8]]
    /// When `due` next has something to send. Nil while the meter waits for the host.
    var nextDue: Duration? { get }
    /// Switches the meter off and on: volatile state restarts, stored state is kept. Time counts from 0 again.
    mutating func powerCycle()
}

/// What goes wrong on purpose. Each fault affects every n-th answer, so that a run is the same each time.
package struct SimulatorFaults: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// The answer ends too early.
        case shortBlock = "short"
        /// A few stray bytes precede the answer.
        case shifted
        /// No answer at all.
        case silence
        case wrongCheck = "wrong-check"
        /// Random bytes in place of the answer.
        case garbage
    }

    /// Nil if nothing goes wrong.
    package var kind: Kind?
    /// The fault affects every `period`-th answer; 1 means all of them, and it is never less.
    package private(set) var period: Int

    package init(_ kind: Kind? = nil, every period: Int = 1) {
        self.kind = kind
        self.period = max(1, period)
    }

    package static let none = SimulatorFaults()

    /// Applies the fault to one answer, if it is this answer's turn.
    ///
    /// - Parameters:
    ///   - number: counts answers from 1.
    ///   - checkOffset: the byte to corrupt for a wrong check, from the start of the answer.
    /// - Returns: nil for no answer at all.
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

package import Domain

/// A simulated meter without I/O: receives the host's bytes and returns the meter's, exactly as on the wire.
///
/// It has no clock and no random numbers: callers pass a seed and the duration since power-on, and transport the bytes
/// (see SimulatedPort).
package protocol SimulatedMeter: Sendable {
    var model: ModelName { get }
    var faults: SimulatorFaults { get set }
    /// Processes bytes from the host. Returns the immediate answers, one element per write.
    mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]]
    /// Returns the bytes that the meter sends without a request at or before `time`.
    mutating func due(at time: Duration) -> [[UInt8]]
    /// Next `time` at which `due` returns bytes; nil if there is none.
    var nextDue: Duration? { get }
    /// Switches the meter off and on. Resets volatile state; `time` restarts at 0.
    mutating func powerCycle()
}

/// A fault in every n-th answer. Runs are therefore repeatable.
package struct SimulatorFaults: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case shortBlock = "short"
        /// The answer begins with stray bytes.
        case shifted
        case silence
        case wrongCheck = "wrong-check"
        case garbage
    }

    package var kind: Kind?
    /// Every `period`-th answer is faulty; at least 1.
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
    ///   - checkOffset: offset of the byte to corrupt.
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

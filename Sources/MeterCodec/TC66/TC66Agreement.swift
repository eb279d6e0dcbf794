/// Whether the pieces of an answer belong together, as far as their values can tell.
///
/// Each piece has its own checksum but no number, so the first piece of one answer and the second of a later one make a
/// perfect answer that nobody measured. The resistance in `pac2` is the quotient of the voltage and current in `pac1`:
/// in the one public answer 259.3 Ω with 5.1609 V and 0.0199 A, which is 259.34 Ω (jedie/tc66c2mqtt,
/// tests/fixtures.py).
struct TC66Agreement: Sendable {
    /// Number of disagreeing answers in a row that must be what the meter means, and not a mixture. Over the radio an
    /// answer is waited for for three seconds, and a link with fifteen silent ones is given up.
    private static let disagreeingMax = 3
    private static let agreeingNeeded = 3
    private var isAskedFor = true
    private var count = 0

    /// Whether an answer whose checksums are right may be shown.
    mutating func accepts(_ block: TC66Block) -> Bool {
        let agrees = Self.agrees(block.rawResistance, voltage: block.rawVoltage, current: block.rawCurrent)
        let accepted = agrees || !isAskedFor
        count = agrees == isAskedFor ? 0 : count + 1
        if count >= (isAskedFor ? Self.disagreeingMax : Self.agreeingNeeded) {
            isAskedFor.toggle()
            count = 0
        }
        return accepted
    }

    /// 9999.9 Ω, in tenths of an ohm, from which on nothing flows, as with the UM. Unverified: nobody has published a block
    /// of a TC66 without a load.
    static let openCircuit = 99_999

    /// Whether a resistance fits voltage and current. Half a milliampere, two per cent and 0.2 Ω are allowed for a
    /// meter that computes with other numbers than it sends. It is not known what a meter shows while nothing flows, so
    /// 0 as well as 9999.9 Ω and more are always accepted.
    ///
    /// - Parameters:
    ///   - resistance: in tenths of an ohm.
    ///   - voltage: in ten-thousandths of a volt.
    ///   - current: in hundred-thousandths of an ampere.
    static func agrees(_ resistance: Int, voltage: Int, current: Int) -> Bool {
        guard resistance > 0, resistance < openCircuit else { return true }
        let (ohms, volts, amperes) = (Double(resistance) / 10, Double(voltage) / 1e4, Double(current) / 1e5)
        let slack = 0.0005
        guard ohms >= volts / (amperes + slack) * 0.98 - 0.2 else { return false }
        return amperes <= slack || ohms <= volts / (amperes - slack) * 1.02 + 0.2
    }
}

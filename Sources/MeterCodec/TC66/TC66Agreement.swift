/// Decides by their values whether the pieces (`TC66Piece`) of an answer belong together.
///
/// Each piece has a checksum but no sequence number, so pieces of two different answers also pass all checks. But the
/// resistance in `pac2` is the quotient of voltage and current in `pac1`. In the only public answer it is 259.3 Ω with
/// 5.1609 V and 0.0199 A, which is 259.34 Ω (jedie/tc66c2mqtt, tests/fixtures.py).
struct TC66Agreement: Sendable {
    /// Number of disagreeing answers in a row that switch the check off, because mixed pieces are then no longer the
    /// likely cause. Over the radio an answer times out after three seconds, and a link ends after fifteen timeouts.
    /// The check is therefore off before the link ends.
    private static let disagreeingMax = 3
    private static let agreeingNeeded = 3
    private var isAskedFor = true
    private var count = 0

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

    /// Resistance shown without a current: 9999.9 Ω, in tenths of an ohm, as with UM meters. Unverified: no block of a
    /// TC66 without a load is public.
    static let openCircuit = 99_999

    /// Returns whether a resistance fits voltage and current to 0.5 mA, 2 % and 0.2 Ω. The meter may compute with finer
    /// numbers than it sends. The values 0, and 9999.9 Ω or more, always pass: the resistance that a meter shows
    /// without a current is not known.
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

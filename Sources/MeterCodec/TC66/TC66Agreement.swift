/// Decides from the values whether the three packets (`TC66Piece`) of an answer belong together.
///
/// Packets have a checksum but no sequence number. However, the resistance in `pac2` is the quotient of voltage and
/// current in `pac1`. The only public answer contains 259.3 Ω, 5.1609 V and 0.0199 A, whose quotient is 259.34 Ω
/// (jedie/tc66c2mqtt, tests/fixtures.py).
struct TC66Agreement: Sendable {
    /// Number of disagreeing answers in a row that switch the check off, because mixed packets are then unlikely. Low
    /// enough to act before fifteen timeouts of three seconds end a radio link.
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

    /// Resistance shown without a current, in tenths of an ohm: 9999.9 Ω, as with UM meters. Unverified: no answer of a
    /// TC66 without a load is public.
    static let openCircuit = 99_999

    /// Returns whether a resistance fits voltage and current to 0.5 mA, 2 % and 0.2 Ω, because the meter may compute
    /// with finer numbers than it sends. The values 0, and 9999.9 Ω or more, always pass (`openCircuit`).
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

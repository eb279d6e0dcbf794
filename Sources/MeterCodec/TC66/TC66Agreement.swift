/// Whether the pieces of an answer belong together, as far as what they say can tell.
///
/// Each piece has a check sum of its own and none has a number, so that the first piece of one answer and the second of
/// a later one make a perfect answer which nobody measured. `pac2` has the resistance that the voltage and current in
/// `pac1` make: in the one public answer 259.3 Ω beside 5.1609 V and 0.0199 A, which is 259.34 Ω
/// (jedie/tc66c2mqtt, tests/fixtures.py).
struct TC66Agreement: Sendable {
    /// So many answers in a row that do not agree are what the meter means, and no mixture. Over the radio an answer is
    /// waited for for three seconds, and a link of fifteen silent ones is given up.
    private static let disagreeingMax = 3
    private static let agreeingNeeded = 3
    private var isAskedFor = true
    private var count = 0

    /// Whether an answer, whose check sums are right, may be shown.
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

    /// Half a milliampere, two per cent and 0.2 Ω are left for a meter that computes with other numbers than it sends.
    /// What a meter shows while nothing flows is not known, so neither 0 nor 9999.9 Ω and more speak against anything.
    ///
    /// - Parameters:
    ///   - resistance: tenths of an ohm.
    ///   - voltage: ten-thousandths of a volt.
    ///   - current: hundred-thousandths of an ampere.
    static func agrees(_ resistance: Int, voltage: Int, current: Int) -> Bool {
        guard resistance > 0, resistance < 99_999 else { return true }
        let (ohms, volts, amperes) = (Double(resistance) / 10, Double(voltage) / 1e4, Double(current) / 1e5)
        let slack = 0.0005
        guard ohms >= volts / (amperes + slack) * 0.98 - 0.2 else { return false }
        return amperes <= slack || ohms <= volts / (amperes - slack) * 1.02 + 0.2
    }
}

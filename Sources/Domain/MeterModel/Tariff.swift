/// Price of a kilowatt-hour: `0.32 EUR`.
package struct Tariff: Codable, Hashable, Sendable, CustomStringConvertible {
    /// 0 to `perKWhMax`, with at most six decimals.
    package let perKWh: Double
    /// One to eight letters or currency signs, as typed: `EUR`, `€`, `ct`.
    package let currency: String

    private enum CodingKeys: String, CodingKey { case perKWh = "per_kWh", currency }

    static let perKWhMax = 1_000_000.0
    private static let decimalsMax = 6

    /// Parses a number and its currency, with or without a blank between; nil for anything else. The decimal separator
    /// is a point or a comma.
    package init?(_ text: String) {
        let trimmed = text.drop { $0 == " " }
        let digits = trimmed.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == ",") }
        let parts = digits.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        // `Double` below rejects a number with several separators.
        guard parts.allSatisfy({ !$0.isEmpty }), digits.count <= 16,
            parts.count == 1 || parts[1].count <= Self.decimalsMax,
            let number = Double(parts.joined(separator: ".")), number <= Self.perKWhMax
        else { return nil }
        var currency = trimmed.dropFirst(digits.count).drop { $0 == " " }
        while currency.last == " " { currency.removeLast() }
        guard (1...8).contains(currency.count), currency.allSatisfy({ $0.isLetter || $0.isCurrencySymbol }) else {
            return nil
        }
        perKWh = number
        self.currency = String(currency)
    }

    /// Returns the cost in units of `currency`; negative if the energy flowed back.
    package func cost(of energy_Wh: Double) -> Double { energy_Wh / 1000 * perKWh }

    package var description: String { "\(Self.shortest(perKWh)) \(currency)" }

    /// Returns the number without superfluous zeros or an exponent.
    private static func shortest(_ number: Double) -> String {
        let millionths = Int64((number * 1e6).rounded())
        let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest != 0 else { return "\(whole)" }
        let text = String(rest)
        var decimals = String(repeating: "0", count: decimalsMax - text.count) + text
        while decimals.last == "0" { decimals.removeLast() }
        return "\(whole).\(decimals)"
    }
}

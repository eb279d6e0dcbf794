package struct FormulaError: Error, Hashable, Sendable {
    package var message: String
    /// Number of the character at which the error is, from 1.
    package var place: Int
    /// Advice to the user.
    package var next: String
}

/// Parser of formulas as people type them, in this grammar; any other text throws an error:
///
///     formula = term (("+" | "-") term)*
///     term    = number | operand (("*" | "/") number | "/" operand)*      with one operand after a "/"
///     operand = (NAME | '"' any name or id '"') "." quantity
///
/// A NAME is a letter or "_", then letters, digits, "-" and "_".
package struct FormulaParser {
    /// Maximum length of a formula, in characters.
    package static let textMax = 300
    /// Maximum number of different operands.
    package static let operandsMax = 8
    private static let example = "for example charger.power - laptop.power"

    private let text: [Character]
    private var place = 0
    private var operands: [Formula.Operand] = []
    private var terms: [Formula.Term] = []
    private var quantity: Quantity?

    package static func formula(_ text: String) throws(FormulaError) -> Formula {
        var parser = FormulaParser(text: Array(text.prefix(textMax + 1)))
        return try parser.formula()
    }

    private mutating func formula() throws(FormulaError) -> Formula {
        guard text.count <= Self.textMax else {
            throw error("the formula is too long", "it may have \(Self.textMax) characters", at: Self.textMax)
        }
        var sign = 1.0
        while true {
            try term(sign)
            skipBlanks()
            guard let next else { break }
            guard next == "+" || next == "-" else {
                throw error("\(shown) does not belong there", "terms are joined by + and -, without parentheses")
            }
            sign = next == "+" ? 1 : -1
            place += 1
        }
        guard let quantity else { throw error("the formula names no meter", Self.example, at: 0) }
        return Formula(operands: operands, terms: terms, quantity: quantity)
    }

    // MARK: Terms

    private mutating func term(_ sign: Double) throws(FormulaError) {
        skipBlanks()
        let start = place
        if let number = try number() {
            skipBlanks()
            guard next != "*", next != "/" else {
                throw error("\(shown) follows a number", "write the number after the meter: charger.power * 2")
            }
            return terms.append(Formula.Term(factor: sign * number))
        }
        let over = try operand()
        var term = Formula.Term(factor: sign, over: over)
        try factors(of: &term)
        var own = operands[over].quantity
        if let under = term.under.map({ operands[$0].quantity }) {
            guard under == own else {
                throw error(
                    "\(own.word) cannot be divided by \(under.word)", "a ratio has one quantity above and below",
                    at: start)
            }
            own = .ratio
        }
        if let quantity, quantity != own {
            throw error(
                "\(quantity.word) and \(own.word) cannot be added", "all terms of a sum have one quantity", at: start)
        }
        quantity = own
        terms.append(term)
    }

    private mutating func factors(of term: inout Formula.Term) throws(FormulaError) {
        while true {
            skipBlanks()
            guard let sign = next, sign == "*" || sign == "/" else { return }
            place += 1
            skipBlanks()
            let start = place
            if let number = try number() {
                guard sign == "*" || number != 0 else {
                    throw error("the formula divides by 0", "divide by another number", at: start)
                }
                term.factor = sign == "*" ? term.factor * number : term.factor / number
            } else if sign == "*" {
                throw error("\(shown) is not a number", "only a number follows *: charger.power * 2")
            } else {
                guard term.under == nil else {
                    throw error("the term divides by two meters", "a term divides by one meter at most")
                }
                term.under = try operand()
            }
        }
    }

    /// Reads a number, which may have a sign. Returns nil if there is none.
    private mutating func number() throws(FormulaError) -> Double? {
        let start = place
        var end = place
        if end < text.count, text[end] == "-" || text[end] == "+" { end += 1 }
        guard end < text.count, text[end].isDigit || text[end] == "." else { return nil }
        while end < text.count {
            let isSign = text[end] == "-" || text[end] == "+"
            guard text[end].isOfName && text[end] != "-" || text[end] == "." || isSign && text[end - 1].isExponent
            else { break }
            end += 1
        }
        let digits = text[start..<end]
        let isDecimal = digits.allSatisfy { $0.isDigit || $0.isExponent || ".+-".contains($0) }
        guard isDecimal, let value = Double(String(digits)), value.magnitude <= Formula.valueMax else {
            throw error(
                "\(String(digits).quoted) is not a number up to 1e9",
                "write it as 1.0023; the name of a meter that begins with a digit goes in quotes: \"2nd\".power")
        }
        place = end
        return value
    }

    // MARK: Operands

    /// Reads an operand. Returns its index.
    private mutating func operand() throws(FormulaError) -> Int {
        let meter = try meter()
        guard take(".") else {
            throw error("no quantity follows \(meter.quoted)", "add one after a point: .power")
        }
        let start = place
        let word = takeWhile { $0.isOfName && $0 != "-" }
        guard let quantity = Formula.quantities.first(where: { $0.word == word }) else {
            let legal = Formula.quantities.map(\.word)
            throw error(
                "\(word.quoted) is not a quantity of a formula",
                legal.suggestion(for: word, "it takes \(legal.joined(separator: ", "))"), at: start)
        }
        let operand = Formula.Operand(meter: meter, quantity: quantity)
        if let index = operands.firstIndex(of: operand) { return index }
        guard operands.count < Self.operandsMax else {
            throw error("the formula has more than \(Self.operandsMax) quantities", "leave some out", at: start)
        }
        operands.append(operand)
        return operands.count - 1
    }

    private mutating func meter() throws(FormulaError) -> String {
        let start = place
        if take("\"") {
            let name = takeWhile { $0 != "\"" }
            guard take("\""), !name.isEmpty else {
                throw error("a name in quotes is empty or not closed", "write it as \"Desk charger\".power", at: start)
            }
            return name
        }
        guard let next, next.isOfName, next != "-", !next.isDigit else {
            throw error(
                "\(shown) names no meter",
                "\(Self.example); a name with other characters than letters, digits, - and _ goes in quotes")
        }
        return takeWhile(\.isOfName)
    }

    // MARK: Characters

    private var next: Character? { place < text.count ? text[place] : nil }

    /// Beginning of the remaining text, for error messages.
    private var shown: String { place < text.count ? String(text[place...].prefix(16)).quoted : "the end" }

    private mutating func skipBlanks() {
        while let next, next.isWhitespace { place += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard next == character else { return false }
        place += 1
        return true
    }

    private mutating func takeWhile(_ isTaken: (Character) -> Bool) -> String {
        let start = place
        while let next, isTaken(next) { place += 1 }
        return String(text[start..<place])
    }

    /// - Parameter place: index of the character; nil for the present one.
    private func error(_ message: String, _ next: String, at place: Int? = nil) -> FormulaError {
        FormulaError(message: message, place: (place ?? self.place) + 1, next: next)
    }
}

extension Character {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
    fileprivate var isExponent: Bool { self == "e" || self == "E" }
    fileprivate var isOfName: Bool { isLetter || isNumber || self == "-" || self == "_" }
}

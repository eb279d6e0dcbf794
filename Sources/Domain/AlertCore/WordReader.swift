struct WordReader {
    private var words: [String]
    private var place = 0
    /// Whether `amount` has added a unit that the text lacked.
    private(set) var isCompleted = false

    /// - Parameter signs: characters that are words by themselves, besides comparisons. Blanks separate words.
    init(_ text: String, signs: String) {
        var words: [String] = []
        var isWord = false
        for character in text {
            if character.isWhitespace {
                isWord = false
            } else if character == "=", let last = words.last, last == "<" || last == ">" {
                words[words.count - 1] += "="
            } else if "<>=≤≥".contains(character) || signs.contains(character) {
                words.append(String(character))
                isWord = false
            } else if isWord {
                words[words.count - 1].append(character)
            } else {
                words.append(String(character))
                isWord = true
            }
        }
        self.words = words
    }

    /// Next word in lower case; nil at the end.
    var next: String? { typed?.lowercased() }

    /// Next word as the user typed it; nil at the end.
    var typed: String? { place < words.count ? words[place] : nil }

    /// All words, with blanks between them.
    var text: String { words.joined(separator: " ").replacing(" / ", with: "/") }

    var second: String? { place + 1 < words.count ? words[place + 1] : nil }

    var shown: String { typed.map { "\"\($0.prefix(40).visible)\"" } ?? "the end" }

    mutating func skip(_ count: Int = 1) { place += count }

    mutating func take(_ texts: String...) -> Bool {
        guard let next, texts.contains(next) else { return false }
        skip()
        return true
    }

    /// - Parameter legal: description of a legal value, for the error: `it takes a number of readings`.
    mutating func number(_ legal: String) throws(AlertSyntaxError) -> Double {
        guard let number = typed.flatMap({ Double($0) }), number.magnitude <= AlertUnits.numberMax else {
            throw AlertSyntaxError("\(shown) is not a number", next: legal)
        }
        skip()
        return number
    }

    /// Reads a number and its unit, together or apart: `50mA`, `50 mA`.
    ///
    /// - Parameter isUnitOptional: whether a number without a unit is in the quantity's own unit, which is then added to
    ///   `text`. If false, only quantities without units, and a 0 other than a temperature, need no unit.
    /// - Returns: the value in the quantity's unit, and the typed unit.
    mutating func amount(
        of quantity: Quantity, isUnitOptional: Bool
    ) throws(AlertSyntaxError) -> (value: Double, unit: AlertUnits.Unit?) {
        let units = AlertUnits.legal(for: quantity)
        guard let typed else {
            throw AlertSyntaxError(
                "the number is missing", next: "for example \(quantity.alertWord) > 5\(quantity.unit)")
        }
        let (digits, suffix) = AlertUnits.split(typed)
        guard let number = Double(digits), number.magnitude <= AlertUnits.numberMax else {
            throw AlertSyntaxError(
                "\(shown) is not a number", next: "it takes a number such as 5\(quantity.unit) or 0.5 \(quantity.unit)")
        }
        guard suffix.first != "," else {
            throw AlertSyntaxError("\(shown) has a comma", next: "decimals come after a point: 4.75")
        }
        skip()
        var name = suffix
        if name.isEmpty, !units.isEmpty, let unit = self.typed,
            isUnitOptional
                ? units.contains(where: { $0.name == unit })
                : !["for", "hysteresis", "/", "per"].contains(next ?? "")
        {
            name = unit
            skip()
        }
        let names = units.map(\.name).joined(separator: ", ")
        guard !name.isEmpty else {
            guard isUnitOptional || units.isEmpty || number == 0 && quantity != .temperature else {
                throw AlertSyntaxError("\(digits) has no unit", next: "it takes one of \(names)")
            }
            if !units.isEmpty, number != 0 || quantity == .temperature {
                words[place - 1] += quantity.unit
                isCompleted = true
            }
            return (number, nil)
        }
        guard let factor = AlertUnits.factor(of: name, among: units) else {
            throw AlertSyntaxError(
                "\"\(name.prefix(40).visible)\" is not a unit of \(quantity.alertWord)",
                next: units.isEmpty
                    ? "\(quantity.alertWord) has no unit" : "it takes \(names)\(isUnitOptional ? ", or none" : "")")
        }
        return (AlertUnits.amount(number, factor), AlertUnits.Unit(name: name, factor: factor))
    }
}

/// Why a text is not a condition, or not a limit, in words for people.
package struct AlertSyntaxError: Error, Hashable, Sendable {
    /// What is wrong, with the word that is.
    package var message: String
    /// What is legal there.
    package var next: String

    package init(_ message: String, next: String) {
        self.message = message
        self.next = next
    }
}

/// Reads conditions as people type them:
///
///     current < 50mA for 2m          temperature rate > 2/min
///     voltage above 5.5V             stale for 30s
///     power > 10 W hysteresis 1W     state is not data-available for 1m
///                                    holder changes
///
/// Any text is safe to read; what is not a condition is an error that says what is legal.
package struct AlertParser {
    /// Longest text that is read, in characters.
    package static let textMax = 200
    /// Longest hold time.
    static let holdMax = Duration.seconds(24 * 3600)
    /// The hold of `stale` where none is given; also the shortest that it takes is one second.
    static let staleDefault = Duration.seconds(30)

    private var words: [Word]
    private var place = 0

    /// A word, a sign of comparison, or a slash.
    private struct Word {
        var text: String
        var lowered: String { text.lowercased() }
    }

    package static func pattern(_ text: String) throws(AlertSyntaxError) -> AlertPattern {
        guard text.count <= textMax else {
            throw AlertSyntaxError(
                "a condition of \(text.count) characters is too long", next: "it may have \(textMax)")
        }
        var parser = AlertParser(words: split(text))
        var pattern = try parser.pattern()
        pattern.text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").visible
        return pattern
    }

    private init(words: [Word]) { self.words = words }

    /// Blanks separate words; `<`, `>`, `=` and `/` are words of their own.
    private static func split(_ text: String) -> [Word] {
        var words: [Word] = []
        var word = ""
        func finish() {
            if !word.isEmpty { words.append(Word(text: word)) }
            word = ""
        }
        for character in text {
            if character.isWhitespace {
                finish()
            } else if "<>=≤≥/".contains(character) {
                finish()
                words.append(Word(text: String(character)))
            } else {
                word.append(character)
            }
        }
        finish()
        return words
    }

    // MARK: Words

    private var next: String? { place < words.count ? words[place].lowered : nil }

    /// The next word as it was typed, for messages.
    private var shown: String { place < words.count ? "\"\(words[place].text.prefix(40).visible)\"" : "the end" }

    private mutating func take(_ text: String) -> Bool {
        guard next == text else { return false }
        place += 1
        return true
    }

    private mutating func takeAny(of texts: [String]) -> String? {
        guard let next, texts.contains(next) else { return nil }
        place += 1
        return next
    }

    // MARK: The whole

    private mutating func pattern() throws(AlertSyntaxError) -> AlertPattern {
        let condition = try condition()
        var pattern = AlertPattern(condition)
        var hasHold = false
        while place < words.count {
            if !hasHold, take("for") {
                hasHold = true
                pattern.hold = try hold(of: condition)
            } else if pattern.hysteresis == nil, take("hysteresis") {
                pattern.hysteresis = try hysteresis(of: condition)
            } else {
                throw trailing(hasHold)
            }
        }
        if condition == .stale, !hasHold { pattern.hold = Self.staleDefault }
        return pattern
    }

    private func trailing(_ hasHold: Bool) -> AlertSyntaxError {
        let legal = hasHold ? "after it: nothing, or hysteresis 10mA" : "after it: nothing, for 2m, or hysteresis 10mA"
        let near = (hasHold ? ["hysteresis"] : ["for", "hysteresis"]).nearest(to: next ?? "").map {
            "did you mean \($0)?"
        }
        return AlertSyntaxError("\(shown) does not belong there", next: near ?? legal)
    }

    private static let subjects =
        Quantity.allCases.map(\.alertWord) + ["stale", "state", "holder"]

    private mutating func condition() throws(AlertSyntaxError) -> AlertCondition {
        guard let word = next else {
            throw AlertSyntaxError("the condition is empty", next: Self.examples)
        }
        if take("stale") { return .stale }
        if take("state") { return try state() }
        if take("holder") {
            guard take("changes") else {
                throw AlertSyntaxError("\(shown) does not belong there", next: "after holder: changes")
            }
            return .holderChanges
        }
        guard let quantity = Self.quantity(word) else {
            let near = Self.subjects.nearest(to: word).map { "did you mean \($0)?" }
            throw AlertSyntaxError(
                "\(shown) is nothing that can be watched",
                next: near ?? "it takes \(Self.subjects.joined(separator: ", "))")
        }
        place += 1
        if take("rate") {
            let comparison = try comparison()
            return .rate(quantity, comparison, try rate(of: quantity))
        }
        let comparison = try comparison()
        return .level(quantity, comparison, try limit(of: quantity))
    }

    private static let examples =
        "for example \"current < 50mA for 2m\", \"voltage > 5.5V\", \"temperature rate > 2/min\", \"stale for 30s\", "
        + "\"state is offline for 1m\" or \"holder changes\""

    /// By the word, the key with its unit, or the usual sign.
    static func quantity(_ word: String) -> Quantity? {
        let plain = String(word.map { $0 == "_" ? "-" : $0 })
        switch plain {
        case "d+": return .dataPlus
        case "d-", "d−": return .dataMinus
        default: break
        }
        return Quantity.allCases.first { $0.alertWord == plain || $0.key.lowercased() == word }
    }

    private mutating func state() throws(AlertSyntaxError) -> AlertCondition {
        guard take("is") || take("=") else {
            throw AlertSyntaxError("\(shown) does not belong there", next: "after state: is, or is not")
        }
        let isIt = !take("not")
        let names = ConnectionState.allCases.map(\.rawValue)
        guard let word = next, let state = ConnectionState(rawValue: word) else {
            throw AlertSyntaxError(
                "\(shown) is not a state",
                next: names.nearest(to: next ?? "").map { "did you mean \($0)?" }
                    ?? "the states are \(names.joined(separator: ", "))")
        }
        place += 1
        return .state(state, isIt: isIt)
    }

    private mutating func comparison() throws(AlertSyntaxError) -> AlertComparison {
        _ = take("is")
        if takeAny(of: ["above", "over", "≥"]) != nil { return .above }
        if takeAny(of: ["below", "under", "≤"]) != nil { return .below }
        if take(">") {
            _ = take("=")
            return .above
        }
        if take("<") {
            _ = take("=")
            return .below
        }
        let near = ["above", "below", "rate"].nearest(to: next ?? "").map { "did you mean \($0)?" }
        throw AlertSyntaxError("\(shown) compares nothing", next: near ?? "it takes <, >, above, below or rate")
    }

    // MARK: Numbers

    private mutating func limit(of quantity: Quantity) throws(AlertSyntaxError) -> Double {
        let value = try value(in: quantity)
        guard !quantity.isAlertedBySize || value >= 0 else {
            throw AlertSyntaxError(
                "\(quantity.alertWord) is compared by its size, so \(value) is never met", next: "leave the sign out")
        }
        return value
    }

    private mutating func rate(of quantity: Quantity) throws(AlertSyntaxError) -> AlertRate {
        let limit = try value(in: quantity)
        guard take("/") || take("per"), let per = takePer() else {
            throw AlertSyntaxError(
                "the rate has no time", next: "it takes so much per time: 2/min, 0.5\(quantity.unit)/s, 10/h")
        }
        return AlertRate(limit, per: per)
    }

    private mutating func takePer() -> AlertRate.Per? {
        guard let word = next else { return nil }
        let per: AlertRate.Per? =
            switch word {
            case "s", "sec", "second": .second
            case "m", "min", "minute": .minute
            case "h", "hour": .hour
            default: nil
            }
        if per != nil { place += 1 }
        return per
    }

    /// How far back: of a value in its unit, of a rate in the same per time as the limit.
    private mutating func hysteresis(of condition: AlertCondition) throws(AlertSyntaxError) -> Double {
        guard let quantity = condition.quantity else {
            throw AlertSyntaxError("only a value has a hysteresis", next: "leave it out")
        }
        let value = try value(in: quantity)
        guard value >= 0 else {
            throw AlertSyntaxError("a hysteresis of \(value) is less than nothing", next: "it takes 0 or more")
        }
        if case .rate(_, _, let rate) = condition, take("/") {
            guard takePer() == rate.per else {
                throw AlertSyntaxError(
                    "the hysteresis has another time than the limit", next: "it takes the same: /\(rate.per.rawValue)")
            }
        }
        return value
    }

    /// A number with the quantity's unit or a multiple of it, together or apart: `50mA`, `50 mA`, `0.05`.
    private mutating func value(in quantity: Quantity) throws(AlertSyntaxError) -> Double {
        let units = AlertUnits.legal(for: quantity)
        guard place < words.count else {
            throw AlertSyntaxError(
                "the number is missing", next: "for example \(quantity.alertWord) > 5\(quantity.unit)")
        }
        let (digits, suffix) = AlertUnits.split(words[place].text)
        guard let number = Double(digits), number.magnitude <= AlertUnits.numberMax else {
            throw AlertSyntaxError(
                "\(shown) is not a number", next: "it takes a number such as 5\(quantity.unit) or 0.5")
        }
        place += 1
        var unit = suffix
        if unit.isEmpty, place < words.count, units.contains(where: { $0.name == words[place].text }) {
            unit = words[place].text
            place += 1
        }
        guard !unit.isEmpty else { return number }
        guard let factor = AlertUnits.factor(of: unit, among: units) else {
            let names = units.map(\.name)
            throw AlertSyntaxError(
                "\"\(unit.prefix(40).visible)\" is not a unit of \(quantity.alertWord)",
                next: names.isEmpty
                    ? "\(quantity.alertWord) has no unit" : "it takes \(names.joined(separator: ", ")), or none")
        }
        return AlertUnits.amount(number, factor)
    }

    private mutating func hold(of condition: AlertCondition) throws(AlertSyntaxError) -> Duration {
        guard condition != .holderChanges else {
            throw AlertSyntaxError("that the holder changes does not last", next: "leave \"for …\" out")
        }
        guard place < words.count else {
            throw AlertSyntaxError("the time after \"for\" is missing", next: "it takes a time such as 30s, 2m or 1h")
        }
        var text = words[place].lowered
        let named = shown
        place += 1
        if text.last?.isNumber == true, let unit = next, AlertUnits.times.contains(unit) {
            text += unit
            place += 1
        }
        for (long, short) in [("minutes", "m"), ("minute", "m"), ("min", "m"), ("seconds", "s"), ("sec", "s")]
        where text.hasSuffix(long) {
            text = text.dropLast(long.count) + short
        }
        guard let hold = Duration(shortText: text), hold <= Self.holdMax else {
            throw AlertSyntaxError("\(named) is not a time to hold", next: "it takes 0s to 24h, such as 30s, 2m or 1h")
        }
        guard condition != .stale || hold >= .seconds(1) else {
            throw AlertSyntaxError("\(named) is too short to call a meter stale", next: "it takes 1s to 24h")
        }
        return hold
    }
}

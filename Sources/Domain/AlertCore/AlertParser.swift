package struct AlertSyntaxError: Error, Hashable, Sendable {
    package var message: String
    /// Advice for users, usually the valid words.
    package var next: String

    package init(_ message: String, next: String) {
        self.message = message
        self.next = next
    }
}

/// Parser for conditions as users type them:
///
///     current < 50mA for 2m          temperature rate > 2°C/min
///     voltage above 5.5V             stale for 30s
///     power > 10 W hysteresis 1W     state is not data-available for 1m
///                                    holder changes
///
/// A number needs its unit, because a current of 50 may be A or mA. Exceptions are quantities without units, and a 0
/// other than a temperature.
package struct AlertParser {
    /// Maximum length of a condition in characters.
    package static let textMax = 200
    static let holdMax = Duration.seconds(24 * 3600)
    /// Default hold time of `stale`; its minimum is one second.
    static let staleDefault = Duration.seconds(30)

    private var words: WordReader
    private let isStored: Bool

    /// - Parameter isStored: whether the text may lack units, as the texts that earlier versions stored. A missing unit
    ///   is the quantity's own; the pattern's text gets it.
    package static func pattern(_ text: String, isStored: Bool = false) throws(AlertSyntaxError) -> AlertPattern {
        guard text.count <= textMax else {
            throw AlertSyntaxError(
                "a condition of \(text.count) characters is too long", next: "it may have \(textMax)")
        }
        var parser = AlertParser(words: WordReader(text, signs: "/"), isStored: isStored)
        var pattern = try parser.pattern()
        let words = parser.words
        pattern.text =
            (words.isCompleted ? words.text : text.split(whereSeparator: \.isWhitespace).joined(separator: " ")).visible
        return pattern
    }

    // MARK: The whole

    private mutating func pattern() throws(AlertSyntaxError) -> AlertPattern {
        let condition = try condition()
        var pattern = AlertPattern(condition)
        var hasHold = false
        while words.next != nil {
            if !hasHold, words.take("for") {
                hasHold = true
                pattern.hold = try hold(of: condition)
            } else if pattern.hysteresis == nil, words.take("hysteresis") {
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
        let near = (hasHold ? ["hysteresis"] : ["for", "hysteresis"]).nearest(to: words.next ?? "").map {
            "did you mean \($0)?"
        }
        return AlertSyntaxError("\(words.shown) does not belong there", next: near ?? legal)
    }

    private static let subjects =
        Quantity.allCases.map(\.alertWord) + ["stale", "state", "holder"]

    private mutating func condition() throws(AlertSyntaxError) -> AlertCondition {
        guard let word = words.next else {
            throw AlertSyntaxError("the condition is empty", next: Self.examples)
        }
        if words.take("stale") { return .stale }
        if words.take("state") { return try state() }
        if words.take("holder") {
            guard words.take("changes") else {
                throw AlertSyntaxError("\(words.shown) does not belong there", next: "after holder: changes")
            }
            return .holderChanges
        }
        guard let quantity = Self.quantity(word) else {
            let near = Self.subjects.nearest(to: word).map { "did you mean \($0)?" }
            throw AlertSyntaxError(
                "\(words.shown) is nothing that can be watched",
                next: near ?? "it takes \(Self.subjects.joined(separator: ", "))")
        }
        words.skip()
        if words.take("rate") {
            let comparison = try comparison()
            return .rate(quantity, comparison, try rate(of: quantity))
        }
        let comparison = try comparison()
        return .level(quantity, comparison, try limit(of: quantity))
    }

    private static let examples =
        "for example \"current < 50mA for 2m\", \"voltage > 5.5V\", \"temperature rate > 2°C/min\", \"stale for 30s\", "
        + "\"state is offline for 1m\" or \"holder changes\""

    /// Parses a quantity's word, its key with the unit, `d+` or `d-`; nil for anything else.
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
        guard words.take("is") || words.take("=") else {
            throw AlertSyntaxError("\(words.shown) does not belong there", next: "after state: is, or is not")
        }
        let isIt = !words.take("not")
        let names = ConnectionState.allCases.map(\.rawValue)
        guard let word = words.next, let state = ConnectionState(rawValue: word) else {
            throw AlertSyntaxError(
                "\(words.shown) is not a state",
                next: names.nearest(to: words.next ?? "").map { "did you mean \($0)?" }
                    ?? "the states are \(names.joined(separator: ", "))")
        }
        words.skip()
        return .state(state, isIt: isIt)
    }

    private mutating func comparison() throws(AlertSyntaxError) -> AlertComparison {
        _ = words.take("is")
        if words.take("above", "over", ">", ">=", "≥") { return .above }
        if words.take("below", "under", "<", "<=", "≤") { return .below }
        let near = ["above", "below", "rate"].nearest(to: words.next ?? "").map { "did you mean \($0)?" }
        throw AlertSyntaxError("\(words.shown) compares nothing", next: near ?? "it takes <, >, above, below or rate")
    }

    // MARK: Numbers

    private mutating func limit(of quantity: Quantity) throws(AlertSyntaxError) -> Double {
        let value = try words.amount(of: quantity, isUnitOptional: isStored).value
        guard !quantity.isAlertedBySize || value >= 0 else {
            throw AlertSyntaxError(
                "\(quantity.alertWord) is compared by its size, so \(value) is never met", next: "leave the sign out")
        }
        return value
    }

    private mutating func rate(of quantity: Quantity) throws(AlertSyntaxError) -> AlertRate {
        let limit = try words.amount(of: quantity, isUnitOptional: isStored).value
        guard words.take("/") || words.take("per"), let per = takePer() else {
            throw AlertSyntaxError(
                "the rate has no time", next: "it takes so much per time: 0.5\(quantity.unit)/s, 2\(quantity.unit)/min")
        }
        return AlertRate(limit, per: per)
    }

    private mutating func takePer() -> AlertRate.Per? {
        guard let word = words.next else { return nil }
        let per: AlertRate.Per? =
            switch word {
            case "s", "sec", "second": .second
            case "m", "min", "minute": .minute
            case "h", "hour": .hour
            default: nil
            }
        if per != nil { words.skip() }
        return per
    }

    /// Parses the hysteresis, in the quantity's unit or, for a rate, per the limit's unit of time.
    private mutating func hysteresis(of condition: AlertCondition) throws(AlertSyntaxError) -> Double {
        guard let quantity = condition.quantity else {
            throw AlertSyntaxError("only a value has a hysteresis", next: "leave it out")
        }
        let value = try words.amount(of: quantity, isUnitOptional: isStored).value
        guard value >= 0 else {
            throw AlertSyntaxError("a hysteresis of \(value) is less than nothing", next: "it takes 0 or more")
        }
        if case .rate(_, _, let rate) = condition, words.take("/") {
            guard takePer() == rate.per else {
                throw AlertSyntaxError(
                    "the hysteresis has another time than the limit", next: "it takes the same: /\(rate.per.rawValue)")
            }
        }
        return value
    }

    private mutating func hold(of condition: AlertCondition) throws(AlertSyntaxError) -> Duration {
        guard condition != .holderChanges else {
            throw AlertSyntaxError("that the holder changes does not last", next: "leave \"for …\" out")
        }
        guard var text = words.next else {
            throw AlertSyntaxError("the time after \"for\" is missing", next: "it takes a time such as 30s, 2m or 1h")
        }
        let named = words.shown
        words.skip()
        if text.last?.isNumber == true, let unit = words.next, AlertUnits.times.contains(unit) {
            text += unit
            words.skip()
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

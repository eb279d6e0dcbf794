/// Parser for limits. A number needs a unit, because a current of 50 may be A or mA. Exceptions are quantities without
/// units, and a 0 other than a temperature.
package struct LimitParser {
    /// Maximum length of a limit in characters.
    package static let textMax = 200

    private var words: WordReader

    package static func limit(_ text: String) throws(AlertSyntaxError) -> Limit {
        guard text.count <= textMax else {
            throw AlertSyntaxError(
                "a limit of \(text.count) characters is too long", next: "it may have \(textMax)")
        }
        var parser = LimitParser(words: WordReader(text, signs: "()%"))
        var limit = try parser.limit()
        limit.text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").visible
        return limit
    }

    private func error(_ what: String, _ next: String) -> AlertSyntaxError {
        AlertSyntaxError(what, next: next)
    }

    // MARK: The whole

    private static let examples =
        "for example \"mean(current) < 15 mA\", \"max(power) < 2 W\", \"p99(current) < 40 mA\", \"energy < 0.1 Wh\", "
        + "\"duration < 2 h\" or \"voltage > 4.75 V for 99.9 %\""
    private static let functions = ["mean", "min", "max", "median", "p99", "stddev", "peak-to-peak"]
    private static let sums = ["energy", "charge", "duration", "count"]

    private mutating func limit() throws(AlertSyntaxError) -> Limit {
        guard let word = words.next else { throw error("the limit is empty", Self.examples) }
        if words.second == "(" { return try limit(of: word) }
        guard Self.sums.contains(word) else { return try share(word) }
        words.skip()
        let found: Limit
        switch word {
        case "energy": found = try limit(.energy, in: .energy)
        case "charge": found = try limit(.charge, in: .charge)
        case "duration": found = try limit(.duration, in: .duration)
        default: found = try count()
        }
        if words.next == "for" { throw error("\(word) has no share of the time", "leave \"for …\" out") }
        return try finished(found)
    }

    private func finished(_ limit: Limit) throws(AlertSyntaxError) -> Limit {
        guard words.next == nil else {
            throw error("\(words.shown) does not belong there", "a limit ends with its number and unit")
        }
        return limit
    }

    private mutating func limit(of name: String) throws(AlertSyntaxError) -> Limit {
        let named = words.shown
        words.skip(2)
        let quantity = try quantity()
        guard words.take(")") else {
            throw error("a bracket is not closed", "write \(name)(\(quantity.alertWord))")
        }
        guard let measure = Self.measure(name, of: quantity) else {
            let near = Self.functions.nearest(to: name).map { "did you mean \($0)?" }
            throw error("\(named) is not a function", near ?? "it takes \(Self.functions.joined(separator: ", "))")
        }
        let limit = try limit(measure, in: quantity)
        return try finished(limit)
    }

    private static func measure(_ name: String, of quantity: Quantity) -> Limit.Measure? {
        switch name {
        case "mean": return .mean(quantity)
        case "min": return .least(quantity)
        case "max": return .greatest(quantity)
        case "median": return .percentile(quantity, 50)
        case "stddev": return .deviation(quantity)
        case "peak-to-peak", "p2p": return .range(quantity)
        default:
            guard name.first == "p", name.dropFirst().allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
                let part = Double(name.dropFirst()), part > 0, part < 100
            else { return nil }
            return .percentile(quantity, part)
        }
    }

    /// Parses a quantity; rejects counters, which only rise.
    private mutating func quantity() throws(AlertSyntaxError) -> Quantity {
        let rising: [Quantity] = [.energy, .charge, .duration, .countedEnergy, .countedCharge]
        let legal = Quantity.allCases.filter { !rising.contains($0) && $0 != .price }
        guard let word = words.next, let quantity = AlertParser.quantity(word) else {
            let near = legal.map(\.alertWord).nearest(to: words.next ?? "").map { "did you mean \($0)?" }
            throw error(
                "\(words.shown) is nothing that is measured",
                near ?? "it takes \(legal.map(\.alertWord).joined(separator: ", "))")
        }
        guard quantity != .price else {
            throw error("\(words.shown) is not measured, but set", "limit the energy instead")
        }
        guard legal.contains(quantity) else {
            throw error("\(words.shown) only rises", "energy, charge and duration stand alone: energy < 0.1 Wh")
        }
        words.skip()
        return quantity
    }

    private mutating func comparison() throws(AlertSyntaxError) -> Limit.Comparison {
        let signs: [String: Limit.Comparison] = [
            "<": .below, "<=": .atMost, "≤": .atMost, ">": .above, ">=": .atLeast, "≥": .atLeast, "below": .below,
            "under": .below, "above": .above, "over": .above,
        ]
        guard let word = words.next, let found = signs[word] else {
            throw error("\(words.shown) compares nothing", "it takes <, <=, > or >=")
        }
        words.skip()
        return found
    }

    private mutating func limit(_ measure: Limit.Measure, in quantity: Quantity) throws(AlertSyntaxError) -> Limit {
        let comparison = try comparison()
        let amount = try amount(of: quantity)
        return Limit(
            text: "", measure: measure, comparison: comparison, bound: amount.value, typedUnit: amount.unit?.name,
            typedFactor: amount.unit?.factor ?? 1)
    }

    private mutating func count() throws(AlertSyntaxError) -> Limit {
        let comparison = try comparison()
        let bound = try words.number("it takes a number of readings")
        return Limit(text: "", measure: .count, comparison: comparison, bound: bound)
    }

    /// Parses `voltage > 4.75 V for 99.9 %`.
    private mutating func share(_ word: String) throws(AlertSyntaxError) -> Limit {
        guard AlertParser.quantity(word) != nil else {
            let near = (Self.sums + Quantity.allCases.map(\.alertWord)).nearest(to: word).map { "did you mean \($0)?" }
            throw error("\(words.shown) is not a limit", near ?? Self.examples)
        }
        let quantity = try quantity()
        let side = try comparison()
        let value = try amount(of: quantity).value
        guard words.take("for") else {
            let name = quantity.alertWord
            throw error(
                "it does not say which values of \(name) it means",
                "all of them: \(side.isUpper ? "max" : "min")(\(name)); on average: mean(\(name)); or most of the time: for 99 %"
            )
        }
        let share = try words.number("it takes a share of the time, such as 99.9 %")
        guard words.take("%"), (0...100).contains(share) else {
            throw error("\"for\" is followed by no share of the time", "it takes 0 % to 100 %, such as 99.9 %")
        }
        return try finished(Limit(text: "", measure: .share(quantity, side, value), comparison: .atLeast, bound: share))
    }

    private mutating func amount(
        of quantity: Quantity
    ) throws(AlertSyntaxError) -> (value: Double, unit: AlertUnits.Unit?) {
        let amount = try words.amount(of: quantity, isUnitOptional: false)
        guard amount.value >= 0 || !quantity.isAlertedBySize && ![.energy, .charge, .duration].contains(quantity) else {
            throw error("\(quantity.alertWord) counts by its size, so it is never below 0", "leave the sign out")
        }
        return amount
    }
}

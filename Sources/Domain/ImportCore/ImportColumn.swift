package struct ImportColumn: Hashable, Sendable {
    /// Nil for columns with the time or the date.
    package var quantity: Quantity?
    /// Whether the column contains dates; another column may contain the time of day.
    var isDate = false
    /// Order of day, month and year; nil to derive it from the table.
    var order: DateOrder?
    /// Name in the first line, or the column's number from 1.
    package var name: String
    /// Nil if the column's name contains the unit, or if there is none.
    var unit: ImportUnit?

    /// - Parameter text: `QUANTITY=NAME` or `QUANTITY=NAME:UNIT`, such as `voltage=Vbus:mV`.
    package init(_ text: String) throws(ImportError) {
        guard let equals = text.firstIndex(of: "="), equals < text.index(before: text.endIndex) else {
            throw ImportError(
                .unknownLayout, "\"\(text.visible)\" does not say which column holds what",
                remedy: "write the quantity, the column and its unit: --column voltage=Vbus:mV")
        }
        let word = String(text[..<equals]).trimmed.lowercased()
        quantity =
            Quantity.allCases.first { $0.word == word || $0.key.lowercased() == word } ?? ColumnNames.quantities[word]
        isDate = ColumnNames.dates.contains(word)
        guard quantity != nil || isDate || ColumnNames.times.contains(word) else {
            let words = ["time", "date"] + Quantity.allCases.map(\.word)
            throw ImportError(
                .unknownLayout, "no quantity is called \"\(word.visible)\"",
                remedy: words.suggestion(for: word, "there are \(words.joined(separator: ", "))"))
        }
        name = String(text[text.index(after: equals)...]).trimmed
        guard let colon = name.lastIndex(of: ":") else { return }
        let text = String(name[name.index(after: colon)...])
        if quantity == nil { order = DateOrder(rawValue: text.trimmed.lowercased()) }
        if !isDate { unit = ImportUnit(text, of: quantity) }
        guard unit != nil || order != nil else {
            throw ImportError(
                .unknownLayout,
                "\(quantity?.word ?? (isDate ? "date" : "time")) has no unit \"\(text.visible)\"",
                remedy: isDate
                    ? "it takes mdy, dmy or ymd, the order of its numbers"
                    : "it takes \(ImportUnit.examples(of: quantity)); without a unit leave the colon out")
        }
        name = String(name[..<colon]).trimmed
    }

    /// Whether this option refers to the column named `other`, the `place`-th from 1.
    func means(_ other: String, at place: Int, of names: [String]) -> Bool {
        func plain(_ text: String) -> String { text.trimmed.lowercased() }
        if plain(other) == plain(name) { return true }
        guard !names.contains(where: { plain($0) == plain(name) }) else { return false }
        return name == "\(place)" || ColumnNames.split(other).word == ColumnNames.plain(name)
    }
}

struct ImportUnit: Hashable, Sendable {
    var factor = 1.0
    var offset = 0.0

    static let own = ImportUnit()

    init(factor: Double = 1, offset: Double = 0) { (self.factor, self.offset) = (factor, offset) }

    /// - Parameters:
    ///   - text: `mV`, `µA`, `°F`; case is ignored.
    ///   - quantity: nil for the time.
    init?(_ text: String, of quantity: Quantity?) {
        let text = Self.plain(text)
        if quantity == .temperature {
            switch text {
            case "c", "celsius", "degc": self = .own
            case "f", "fahrenheit", "degf": self.init(factor: 5 / 9, offset: -160 / 9)
            case "k", "kelvin": self.init(offset: -273.15)
            default: return nil
            }
            return
        }
        for (base, factor) in Self.bases(of: quantity) {
            if text == base {
                self.init(factor: factor)
                return
            }
            guard text.hasSuffix(base), let prefix = Self.prefixes[String(text.dropLast(base.count))] else { continue }
            self.init(factor: factor * prefix)
            return
        }
        return nil
    }

    /// Returns the unit in lower case, with one spelling for micro and for ohm.
    private static func plain(_ text: String) -> String {
        text.trimmed.lowercased().replacing("µ", with: "u").replacing("μ", with: "u").replacing("ω", with: "ohm")
            .replacing("°", with: "")
    }

    private static let prefixes = ["n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3]

    private static func bases(of quantity: Quantity?) -> [(String, Double)] {
        switch quantity {
        case .voltage, .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage: [("v", 1), ("volt", 1), ("volts", 1)]
        case .current: [("a", 1), ("amp", 1), ("amps", 1), ("ampere", 1)]
        case .power: [("w", 1), ("watt", 1), ("watts", 1)]
        case .energy, .countedEnergy: [("wh", 1), ("ws", 1 / 3600), ("j", 1 / 3600)]
        case .charge, .countedCharge: [("ah", 1000), ("as", 1 / 3.6), ("c", 1 / 3.6)]
        case .resistance: [("ohm", 1), ("ohms", 1), ("r", 1)]
        case .frequency: [("hz", 1)]
        case nil, .duration:
            [
                ("s", 1), ("sec", 1), ("second", 1), ("seconds", 1), ("min", 60), ("minutes", 60), ("h", 3600),
                ("hours", 3600),
            ]
        case .temperature, .powerFactor, .price, .ratio: []
        }
    }

    static func examples(of quantity: Quantity?) -> String {
        switch quantity {
        case nil: "s, ms, us, min or h, and for a date mdy, dmy or ymd, the order of its numbers"
        case .duration: "s, ms, us, min or h"
        case .temperature: "C, F or K"
        case .powerFactor, .price, .ratio: "none"
        case .charge, .countedCharge: "mAh, Ah or As"
        case let quantity?: "\(quantity.unit), m\(quantity.unit) or u\(quantity.unit)"
        }
    }
}

enum ColumnNames {
    static let times: Set<String> = [
        "time", "timestamp", "datetime", "elapsed", "elapsedtime", "unix", "unixtime", "epoch", "hosttime", "zeit",
        "uhrzeit", "zeitstempel", "t", "s", "ms", "seconds", "sec",
    ]
    static let dates: Set<String> = ["date", "datum", "day"]

    /// Quantity for each column name in lower case, without unit, white space and underscores.
    static let quantities: [String: Quantity] = {
        let words: [(Quantity, String)] = [
            (.voltage, "voltage volt volts vbus busvoltage u v spannung"),
            (.current, "current amp amps ampere amperes ibus buscurrent i a strom"),
            (.power, "power watt watts w p leistung"), (.energy, "energy energie wh mwh accumulatedpower"),
            (.charge, "charge capacity ladung kapazität ah mah accumulatedcurrent"),
            (.temperature, "temperature temp temperatur tc °c"),
            (.resistance, "resistance resistence res widerstand ohm ω"),
            (.dataPlus, "d+ dp dplus vdp data+ dataplus datalineplus"),
            (.dataMinus, "d- dn dm dminus vdn vdm data- dataminus datalineminus"), (.cc1, "cc1 vcc1"),
            (.cc2, "cc2 vcc2"),
            (.frequency, "frequency freq frequenz hz"), (.powerFactor, "powerfactor pf"),
        ]
        return Dictionary(
            words.flatMap { quantity, names in names.split(separator: " ").map { (String($0), quantity) } },
            uniquingKeysWith: { first, _ in first })
    }()

    /// Seconds, volts and amperes: the only known table without names (dimorlus/TC66 phone.csv).
    static let unnamed: [Quantity?] = [nil, .voltage, .current]

    static func plain(_ text: String) -> String {
        text.lowercased().replacing(" ", with: "").replacing("_", with: "")
    }

    /// Splits `Volt[V]`, `vbus_µV`, `Time, s` or `Voltage (V)` into name and unit.
    static func split(_ name: String) -> (word: String, unit: String?) {
        let name = name.trimmed
        if let mark = name.firstIndex(where: { "[(,/".contains($0) }), mark != name.startIndex {
            let unit = name[name.index(after: mark)...].filter { !"])".contains($0) }
            return (plain(String(name[..<mark])), String(unit).trimmed)
        }
        guard let mark = name.lastIndex(where: { "_ ".contains($0) }) else { return (plain(name), nil) }
        let (word, unit) = (plain(String(name[..<mark])), String(name[name.index(after: mark)...]))
        let isTime = times.contains(word)
        guard isTime || quantities[word] != nil, ImportUnit(unit, of: quantities[word]) != nil else {
            return (plain(name), nil)
        }
        return (word, unit)
    }

    /// Identifies a column by its name. Charge and energy need a unit, because loggers use different ones.
    static func column(_ name: String) -> ImportLayout.Column {
        let (word, unit) = split(name)
        if dates.contains(word), unit == nil { return .date }
        if times.contains(word) {
            // The `UTC` of `Time (UTC)` is ignored: the user must still name the zone.
            let isUnit = unit ?? (["s", "ms"].contains(word) ? word : nil)
            return .time(isUnit.flatMap { ImportUnit($0, of: nil) })
        }
        guard let quantity = quantities[word] else { return .skipped }
        let needsUnit = quantity == .energy || quantity == .charge
        guard let text = unit ?? (needsUnit ? word : nil) else { return .value(quantity, .own) }
        return ImportUnit(text, of: quantity).map { .value(quantity, $0) } ?? .skipped
    }
}

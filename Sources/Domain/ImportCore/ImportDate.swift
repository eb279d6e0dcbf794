/// Order of day, month and year. Users type the raw value, such as `dmy`.
package enum DateOrder: String, CaseIterable, Sendable {
    case mdy, dmy, ymd
}

/// Date and time in a format other than RFC 3339: `21.11.2026 13:40`, `11/21/2026 1:40:05 PM`, `2026/11/21 13:40:05,25
/// +0100`.
struct ImportDate {
    private let numbers: [Substring]
    private let separator: Character
    /// Time of day as in RFC 3339, with or without a zone.
    private let clock: String
    let hasHalf: Bool

    /// Fails unless the text has three numbers and a time of day.
    init?(_ text: String) {
        guard let end = text.firstIndex(where: { " Tt".contains($0) }) else { return nil }
        // JavaScript's toLocaleString writes a comma after the date.
        let date = text[..<end].last == "," ? text[..<end].dropLast() : text[..<end]
        guard let separator = date.first(where: { "-/.".contains($0) }) else { return nil }
        numbers = date.split(separator: separator, omittingEmptySubsequences: false)
        guard numbers.count == 3, let (clock, hasHalf) = Self.clock(String(text[text.index(after: end)...]).trimmed)
        else { return nil }
        (self.separator, self.clock, self.hasHalf) = (separator, clock, hasHalf)
    }

    /// Whether the order of day, month and year is ambiguous.
    var isInDoubt: Bool { separator != "." && numbers[0].count <= 2 }

    /// Number of days since 1970; nil if the date does not exist in this order.
    func day(_ order: DateOrder) -> Int64? {
        date(order).flatMap { WallTime("\($0)T00:00:00Z") }.map { $0.millisecondsSince1970 / 86_400_000 }
    }

    /// Date and time in RFC 3339; nil if the order is nil, or impossible for this date.
    func text(_ order: DateOrder?) -> String? { date(order).map { "\($0)T\(clock)" } }

    /// Date in RFC 3339. If points separate the numbers, the day is first by default.
    private func date(_ order: DateOrder?) -> String? {
        var order = order
        if numbers[0].count == 4 { order = .ymd }
        guard let order = order ?? (separator == "." ? .dmy : nil) else { return nil }
        let places =
            switch order {
            case .mdy: [2, 0, 1]
            case .dmy: [2, 1, 0]
            case .ymd: [0, 1, 2]
            }
        let (year, month, day) = (numbers[places[0]], numbers[places[1]], numbers[places[2]])
        func padded(_ number: Substring) -> String { number.count == 1 ? "0\(number)" : String(number) }
        return "\(year.count == 2 ? "20" : "")\(year)-\(padded(month))-\(padded(day))"
    }

    private static func clock(_ text: String) -> (String, hasHalf: Bool)? {
        var (rest, zone) = (text, "")
        if let name = ["UTC", "GMT", "Z", "z"].first(where: { rest.hasSuffix($0) }) {
            (rest, zone) = (String(rest.dropLast(name.count)).trimmed, "Z")
        } else if let sign = rest.lastIndex(where: { "+-".contains($0) }) {
            let digits = rest[rest.index(after: sign)...].filter { $0 != ":" }
            guard digits.count == 2 || digits.count == 4 else { return nil }
            zone = "\(rest[sign])\(digits.prefix(2)):\(digits.count == 4 ? String(digits.suffix(2)) : "00")"
            rest = String(rest[..<sign]).trimmed
        }
        let half = half(&rest)
        var parts = rest.replacing(",", with: ".").split(separator: ":", omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2 || parts.count == 3 else { return nil }
        if parts.count == 2 { parts.append("00") }
        if let half {
            guard let hour = Int(parts[0]), (1...12).contains(hour) else { return nil }
            parts[0] = "\(hour % 12 + half)"
        }
        if parts[0].count == 1 { parts[0] = "0" + parts[0] }
        return ("\(parts.joined(separator: ":"))\(zone)", half != nil)
    }

    /// Removes AM or PM; returns the hours to add, nil if there is neither.
    private static func half(_ text: inout String) -> Int? {
        guard text.last.map({ "mM.".contains($0) }) ?? false else { return nil }
        let plain = text.lowercased().filter { $0 != "." }
        guard let hours = plain.hasSuffix("am") ? 0 : plain.hasSuffix("pm") ? 12 : nil else { return nil }
        text = String(text.prefix { !"apAP".contains($0) }).trimmed
        return hours
    }
}

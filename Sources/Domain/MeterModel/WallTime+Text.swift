extension WallTime {
    /// Parses RFC 3339, such as `2026-11-21T13:40:05.250Z` or `2026-11-21T14:40:05+01:00`; nil for anything else. Drops
    /// digits beyond milliseconds, and counts a leap second as the next second.
    package init?(_ text: some StringProtocol) {
        var scanner = Scanner(rest: Array(text.utf8)[...])
        guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2), scanner.take("T") || scanner.take("t") || scanner.take(" "),
            let hour = scanner.number(2), scanner.take(":"), let minute = scanner.number(2), scanner.take(":"),
            let second = scanner.number(2), let fraction = scanner.fraction(), let offset = scanner.offset(),
            scanner.rest.isEmpty,
            (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        let seconds = Self.days(from: year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset * 60
        self.init(millisecondsSince1970: seconds * 1000 + fraction)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        switch month {
        case 2: return isLeap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// Returns the number of days since 1970; inverse of `civil(fromDays:)`.
    private static func days(from year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func take(_ letter: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: letter) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int64? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return text.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Parses a fraction of a second into milliseconds; 0 without a decimal point.
        mutating func fraction() -> Int64? {
            guard take(".") else { return 0 }
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            return (digits + [0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Parses a zone into minutes east of UTC.
        mutating func offset() -> Int64? {
            if take("Z") || take("z") { return 0 }
            let sign: Int64 = rest.first == UInt8(ascii: "-") ? -1 : 1
            guard take("+") || take("-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24,
                minutes < 60
            else { return nil }
            return sign * (hours * 60 + minutes)
        }
    }
}

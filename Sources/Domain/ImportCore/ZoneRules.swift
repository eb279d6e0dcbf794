package struct ImportZones: Sendable {
    private let local: @Sendable (_ moment: WallTime) -> Duration
    private let file: @Sendable (_ name: String) -> [UInt8]?

    /// - Parameters:
    ///   - local: returns the offset of this machine's zone from UTC at a moment.
    ///   - file: reads a zone's file in `/usr/share/zoneinfo`; nil if there is none.
    package init(
        local: @escaping @Sendable (_ moment: WallTime) -> Duration,
        file: @escaping @Sendable (_ name: String) -> [UInt8]?
    ) {
        self.local = local
        self.file = file
    }

    /// Returns a function from a moment to the zone's offset from UTC, both in milliseconds.
    ///
    /// - Parameter zone: `local`, `UTC`, `+02:00`, or a name such as `Europe/Berlin`.
    package func offset(of zone: String) throws(ImportError) -> @Sendable (_ moment: Int64) -> Int64 {
        switch zone.lowercased() {
        case "local": return { [local] in local(WallTime(millisecondsSince1970: $0)).milliseconds }
        case "utc", "z": return { _ in 0 }
        default:
            // Parse `+02:00` as RFC 3339 does after a time.
            if let time = WallTime("1970-01-02T00:00:00\(zone)") {
                let distance = 86_400_000 - time.millisecondsSince1970
                return { _ in distance }
            }
            guard Self.isName(zone), let rules = file(zone).flatMap({ ZoneRules($0) }) else {
                throw ImportError(
                    .needsZone, "no time zone is called \"\(zone.visible)\"",
                    remedy: "it takes local, UTC, +02:00, or a name such as Europe/Berlin")
            }
            return { rules.offset(at: $0) }
        }
    }

    /// Whether the name can be a path in the zone database.
    private static func isName(_ zone: String) -> Bool {
        zone.utf8.count <= 64
            && zone.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
                part.first?.isLetter ?? false
                    && part.utf8.allSatisfy {
                        Character(Unicode.Scalar($0)).isLetter || "0123456789_+-".utf8.contains($0)
                    }
            }
    }
}

/// Offsets of a zone, from a file of the time zone database (RFC 9636).
package struct ZoneRules: Sendable {
    /// Changes of the offset, ascending: start in seconds since 1970, and offset in seconds from then on.
    private var changes: [(from: Int64, offset: Int64)] = []
    /// Offset in seconds before the first change.
    private var first: Int64 = 0
    /// Yearly rule after the last change; nil if there is none.
    private var rule: YearlyRule?

    private static let headerLength = 44

    /// Fails for bytes of another format, and for versions without 64-bit times.
    package init?(_ bytes: [UInt8]) {
        guard let old = Counts(bytes, at: 0), let counts = Counts(bytes, at: old.end(timeWidth: 4)) else { return nil }
        let end = counts.end(timeWidth: 8)
        guard bytes.count > end, counts.types > 0 else { return nil }
        let (times, places) = (counts.start, counts.start + 8 * counts.times)
        let types = places + counts.times
        func offset(_ type: Int) -> Int64? {
            type < counts.types ? Int64(Int32(truncatingIfNeeded: bytes.bigEndian(types + 6 * type, 4))) : nil
        }
        guard let first = offset(0) else { return nil }
        self.first = first
        for index in 0..<counts.times {
            guard let offset = offset(Int(bytes[places + index])) else { return nil }
            changes.append((bytes.bigEndian(times + 8 * index, 8), offset))
        }
        let footer = bytes[end...].dropFirst().prefix { $0 != UInt8(ascii: "\n") }
        rule = YearlyRule(String(decoding: footer, as: UTF8.self))
    }

    /// Moment and offset from UTC are in milliseconds.
    package func offset(at moment: Int64) -> Int64 {
        let seconds = moment / 1000 - (moment % 1000 < 0 ? 1 : 0)
        if let rule, seconds >= changes.last?.from ?? .min { return 1000 * rule.offset(at: seconds) }
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].from <= seconds { low = middle + 1 } else { high = middle }
        }
        return 1000 * (low > 0 ? changes[low - 1].offset : first)
    }

    private struct Counts {
        var start, times, types, rest: Int

        init?(_ bytes: [UInt8], at place: Int) {
            guard bytes.count >= place + headerLength, bytes.count <= 1 << 20,
                bytes[place...].starts(with: "TZif".utf8),
                bytes[place + 4] >= UInt8(ascii: "2")
            else { return nil }
            func count(_ number: Int) -> Int { Int(bytes.bigEndian(place + 20 + 4 * number, 4)) }
            guard (0..<6).allSatisfy({ count($0) <= bytes.count }) else { return nil }
            start = place + headerLength
            (times, types) = (count(3), count(4))
            rest = count(0) + count(1) + count(5)
            leaps = count(2)
        }

        private var leaps: Int

        func end(timeWidth: Int) -> Int { start + times * (timeWidth + 1) + types * 6 + rest + leaps * (timeWidth + 4) }
    }
}

/// The file's footer: `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX TZ). Supports only days of the form `M`; no current zone has
/// others.
private struct YearlyRule: Sendable {
    private var standard: Int64 = 0
    private var summer: (offset: Int64, begin: Day, end: Day)?

    private struct Day {
        var month, week, weekday, seconds: Int64

        init?(_ text: Substring) {
            let halves = text.split(separator: "/")
            let numbers = (halves.first ?? "").dropFirst().split(separator: ".").compactMap { Int64($0) }
            guard text.first == "M", numbers.count == 3, (1...12).contains(numbers[0]), (1...5).contains(numbers[1]),
                (0...6).contains(numbers[2]), let time = halves.count > 1 ? YearlyRule.seconds(halves[1]) : 7200
            else { return nil }
            (month, week, weekday, seconds) = (numbers[0], numbers[1], numbers[2], time)
        }

        /// Local time of the change, in seconds since 1970.
        func local(in year: Int64) -> Int64 {
            func day(_ year: Int64, _ month: Int64) -> Int64 {
                let text = "\(year)-\(month < 10 ? "0" : "")\(month)-01T00:00:00Z"
                return (WallTime(text)?.millisecondsSince1970 ?? 0) / 86_400_000
            }
            let (first, next) = (day(year, month), month < 12 ? day(year, month + 1) : day(year + 1, 1))
            // 1970 began on a Thursday (4), and `week` counts from 1.
            var day = first + (weekday - (first + 4) % 7 + 7) % 7 + 7 * (week - 1)
            while day >= next { day -= 7 }
            return day * 86_400 + seconds
        }
    }

    init?(_ text: String) {
        var rest = text[...]
        guard Self.takeName(&rest), let standard = Self.takeOffset(&rest) else { return nil }
        self.standard = -standard
        guard !rest.isEmpty else { return }
        guard Self.takeName(&rest) else { return nil }
        let offset = rest.first == "," ? standard - 3600 : Self.takeOffset(&rest)
        let days = rest.split(separator: ",").compactMap { Day($0) }
        guard let offset, days.count == 2 else { return nil }
        summer = (-offset, days[0], days[1])
    }

    func offset(at seconds: Int64) -> Int64 {
        guard let summer, (0..<200_000_000_000).contains(seconds),
            let year = Int64(WallTime(millisecondsSince1970: seconds * 1000).description.prefix(4))
        else { return standard }
        let (begin, end) = (summer.begin.local(in: year) - standard, summer.end.local(in: year) - summer.offset)
        let isSummer = begin < end ? (begin..<end).contains(seconds) : !(end..<begin).contains(seconds)
        return isSummer ? summer.offset : standard
    }

    private static func takeName(_ rest: inout Substring) -> Bool {
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        let name = rest.prefix { $0.isLetter }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    private static func takeOffset(_ rest: inout Substring) -> Int64? {
        let text = rest.prefix { "+-:0123456789".contains($0) }
        rest = rest.dropFirst(text.count)
        return seconds(text)
    }

    /// Parses hours, minutes and seconds, such as `-1`, `5:30` or `3`, into seconds.
    private static func seconds(_ text: Substring) -> Int64? {
        let sign: Int64 = text.first == "-" ? -1 : 1
        let parts = text.drop { "+-".contains($0) }.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var total: Int64 = 0
        for (part, unit) in zip(parts, [3600, 60, 1] as [Int64]) {
            guard let number = Int64(part), (0...200).contains(number) else { return nil }
            total += number * unit
        }
        return sign * total
    }
}

extension [UInt8] {
    /// Reads an integer, signed if `width` is 8 bytes.
    fileprivate func bigEndian(_ place: Int, _ width: Int) -> Int64 {
        self[place..<(place + width)].reduce(0) { $0 << 8 | Int64($1) }
    }
}

struct ImportClock: Sendable {
    /// Offset from UTC in milliseconds, for times without a zone; nil if the user named no zone.
    private let zoneOffset: (@Sendable (_ moment: Int64) -> Int64)?
    /// Start of the recording in milliseconds since 1970; nil if unknown.
    private let start: Int64?
    /// Whether numeric times are relative to the start of the recording; nil until the first one.
    private var isElapsed: Bool?
    /// Cached range of local times, in milliseconds, with the offset `steadyOffset`.
    private var steady: Range<Int64> = 0..<0
    private var steadyOffset: Int64 = 0
    /// Whether the last time had no zone.
    private(set) var isLocal = false
    /// Whether the file began in the hour that occurs twice when clocks are set back, and no line has shown in which
    /// occurrence.
    private(set) var beganInDoubledHour = false
    private var isFirst = true

    private static let halfDay: Int64 = 43_200_000
    /// Least number of seconds that counts as a time since 1970 (March 1973): recordings are shorter, and meters'
    /// calendars later.
    private static let unixMin = 1e8
    private static let jitterMax: Int64 = 1000

    init(_ options: ImportOptions) {
        (zoneOffset, start) = (options.zoneOffset, options.start)
    }

    // MARK: Calendars

    /// Parses a time into milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - unit: length of a numeric time's unit in seconds, such as 0.001; nil if unspecified.
    ///   - isUnix: whether numbers are always relative to 1970.
    ///   - order: order of day, month and year; nil if unknown.
    ///   - last: time of the previous line.
    mutating func moment(
        _ field: ArraySlice<UInt8>, unit: Double?, isUnix: Bool, comma: Bool, order: DateOrder?, after last: Int64?
    ) throws(ImportError) -> Int64 {
        if let value = NumberText.value(field, comma: comma) {
            isLocal = false
            return try number(value, field, unit, isUnix)
        }
        guard let (time, isLocal) = CalendarText.read(field, order) else { throw Self.noTime(field, order) }
        self.isLocal = isLocal
        return isLocal ? try resolve(time, field, after: last) : time
    }

    private static func noTime(_ field: ArraySlice<UInt8>, _ order: DateOrder?) -> ImportError {
        let text = String(decoding: field.prefix(40), as: UTF8.self)
        let isOfAnotherOrder = order != nil && DateOrder.allCases.contains { CalendarText.read(field, $0) != nil }
        let isHour = text.contains(":") && ImportDate("2000-01-01 \(text)") != nil
        let (problem, remedy) =
            if isOfAnotherOrder {
                (
                    "is not a time in the order of day and month of the others",
                    "say their order: --column time=NAME:dmy or --column time=NAME:mdy"
                )
            } else if isHour {
                ("is not a time", "name the column that has the day as well: --column date=NAME")
            } else {
                (
                    "is not a time",
                    "write it as 2026-11-21T13:40:05.250Z, or as 2026-11-21 13:40:05 and add --zone"
                )
            }
        return ImportError(.badTime, "\"\(text.visible)\" \(problem)", remedy: remedy)
    }

    /// Formats a time in the user's zone if the file's times have none, otherwise in UTC.
    func shown(_ time: Int64) -> String {
        guard isLocal, let offset = zoneOffset?(time) else { return WallTime(millisecondsSince1970: time).description }
        let text = WallTime(millisecondsSince1970: time.addingClamped(offset)).description
        let clock = text.replacing("T", with: " ").replacing("Z", with: "").replacing(".000", with: "")
        return "\(clock) \(Self.distance(offset))"
    }

    private static func distance(_ offset: Int64) -> String {
        let minutes = abs(offset) / 60_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(offset < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
    }

    /// Throws if the time has no zone and the user named none.
    func checkZone(_ field: ArraySlice<UInt8>) throws(ImportError) {
        let isLocal = DateOrder.allCases.contains { CalendarText.read(field, $0)?.isLocal ?? false }
        if isLocal, zoneOffset == nil { throw Self.needsZone(field) }
    }

    private static func needsZone(_ field: ArraySlice<UInt8>) -> ImportError {
        ImportError(
            .needsZone,
            "\"\(String(decoding: field.prefix(40), as: UTF8.self).visible)\" does not say in which time zone it is",
            remedy: "say so: --zone local, --zone Europe/Berlin, --zone UTC or --zone +02:00")
    }

    /// Converts a local time. If it occurred twice, returns the first moment that is not before `last`.
    private mutating func resolve(
        _ local: Int64, _ field: ArraySlice<UInt8>, after last: Int64?
    ) throws(ImportError) -> Int64 {
        guard let zoneOffset else { throw Self.needsZone(field) }
        if steady.contains(local) { return local.subtractingClamped(steadyOffset) }
        let (before, after) = (
            zoneOffset(local.subtractingClamped(2 * Self.halfDay)), zoneOffset(local.addingClamped(2 * Self.halfDay))
        )
        if before == after {
            (steady, steadyOffset) = (local..<local.addingClamped(Self.halfDay), after)
        }
        let candidates = [local.subtractingClamped(max(before, after)), local.subtractingClamped(min(before, after))]
            .filter { zoneOffset($0) == local.subtractingClamped($0) }
        guard let first = candidates.first else {
            throw ImportError(
                .badTime,
                "\"\(String(decoding: field.prefix(40), as: UTF8.self).visible)\" does not exist in this zone: clocks were set forward",
                remedy: "is the zone right? A clock that was not changed has a fixed one, such as --zone +01:00")
        }
        let isDoubled = candidates.count == 2 && before != after
        defer { isFirst = false }
        if isFirst { beganInDoubledHour = isDoubled }
        guard let last else { return first }
        guard let next = candidates.first(where: { $0 >= last - Self.jitterMax }) else { return first }
        if next != first { beganInDoubledHour = false }
        // A gap of one hour between lines means that the file began in the second occurrence of the hour, but was read
        // as the first.
        let shift = abs(before - after)
        if beganInDoubledHour, !isDoubled, (shift...(shift + 60_000)).contains(next - last) {
            throw ImportError(
                .badTime, "the file begins in an hour that occurs twice, and goes on after the second",
                remedy: "say the zone of the second: --zone \(Self.distance(min(before, after)))")
        }
        return next
    }

    // MARK: Numbers

    private mutating func number(
        _ value: Double, _ field: ArraySlice<UInt8>, _ unit: Double?, _ isUnix: Bool
    ) throws(ImportError) -> Int64 {
        let scale = unit ?? Self.scale(of: value)
        let isElapsed = isElapsed ?? (!isUnix && abs(value * scale) < Self.unixMin)
        self.isElapsed = isElapsed
        let text = String(decoding: field.prefix(30), as: UTF8.self).visible
        if NumberText.step(field).map({ $0 * scale > 1 }) ?? false {
            throw ImportError(
                .badTime, "\"\(text)\" was rounded, so that its seconds are lost",
                remedy:
                    "did a spreadsheet save the file? Show the column there as a number without an exponent, or import the original"
            )
        }
        guard let milliseconds = Int64(exactly: (value * scale * 1000).rounded()) else {
            throw ImportError(
                .badTime, "\"\(text)\" is not a number of seconds", remedy: "correct the line, or take it out")
        }
        guard isElapsed else { return milliseconds }
        guard let start else {
            throw ImportError(
                .needsStart, "the times of this file count from its start", remedy: "say when that was: --start 14:30")
        }
        return start.addingClamped(milliseconds)
    }

    /// Returns the length in seconds of a numeric time's unit, 1 to 1e-9 (nanoseconds), judged by the size of the
    /// number.
    private static func scale(of value: Double) -> Double {
        switch abs(value) {
        case 1e17...: 1e-9
        case 1e14...: 1e-6
        case 1e11...: 1e-3
        default: 1
        }
    }
}

private enum CalendarText {
    /// Returns milliseconds since 1970. A time without a zone is treated as UTC.
    static func read(_ field: ArraySlice<UInt8>, _ order: DateOrder?) -> (milliseconds: Int64, isLocal: Bool)? {
        let text = String(decoding: field.prefix(40), as: UTF8.self)
        if let found = read(text) { return found }
        return ImportDate(text)?.text(order).flatMap(read)
    }

    private static func read(_ text: String) -> (milliseconds: Int64, isLocal: Bool)? {
        if let time = WallTime(text) { return (time.millisecondsSince1970, false) }
        return WallTime("\(text)Z").map { ($0.millisecondsSince1970, true) }
    }
}

extension String {
    var trimmed: String {
        var text = self[...]
        while text.last?.isWhitespace ?? false { text = text.dropLast() }
        return String(text.drop { $0.isWhitespace })
    }
}

/// Decimal sign of a table. Users type the raw value, such as `comma`.
package enum DecimalSign: String, CaseIterable, Sendable {
    case comma
    /// The decimal sign is a point; a comma groups thousands.
    case point
}

/// Order of day and month in a table, and whether a comma is the decimal sign: specified by the user, or derived from
/// all lines.
struct ImportWriting: Sendable {
    typealias Place = (line: Int, column: String)

    private var dates: DateOrders
    private var numbers: DecimalSigns

    init(_ options: ImportOptions, isSeparatedByComma: Bool) {
        dates = DateOrders(options)
        numbers = DecimalSigns(sign: options.decimal ?? (isSeparatedByComma ? nil : .comma))
    }

    var order: DateOrder? { dates.known }
    /// Decimal sign. While it is nil, a number with a comma is an error.
    var decimal: DecimalSign? { numbers.sign }
    var isUndecided: Bool { dates.isUndecided || numbers.sign == nil }
    var doubt: ImportError? { dates.doubt ?? numbers.doubt }
    var remark: String? {
        dates.isAssumed ? "dates are taken as month/day/year, since their times have AM and PM" : nil
    }

    /// - Parameter column: option for the column with the date, such as `time=Time`.
    mutating func note(date: ArraySlice<UInt8>, _ column: String, at place: ImportWriting.Place) {
        guard dates.isUndecided else { return }
        dates.note(String(decoding: date.prefix(40), as: UTF8.self), column, at: place)
    }

    /// - Parameter isPossible: whether a meter can measure such a value.
    mutating func note(number: ArraySlice<UInt8>, at place: ImportWriting.Place, _ isPossible: (Double) -> Bool) {
        guard numbers.sign == nil else { return }
        numbers.note(number, at: place, isPossible)
    }

    mutating func settle() throws(ImportError) {
        dates.settle()
        if let doubt { throw doubt }
    }
}

/// Possible orders of dates. A month above 12, or a date before the previous one, rules out an order.
private struct DateOrders: Sendable {
    private var left: [DateOrder]
    /// Date of the last line in days since 1970, as read in each order.
    private var days: [DateOrder: Int64] = [:]
    private(set) var isUndecided: Bool
    private(set) var doubt: ImportError?
    private var hasHalves = false
    private(set) var isAssumed = false
    /// Latest acceptable date in days since 1970, in any zone.
    private let latest: Int64

    init(_ options: ImportOptions) {
        let said = options.columns.compactMap(\.order).first
        left = said.map { [$0] } ?? DateOrder.allCases
        isUndecided = said == nil
        latest = options.latest / 86_400_000 + 1
    }

    var known: DateOrder? { left.count == 1 ? left[0] : nil }

    mutating func note(_ text: String, _ column: String, at place: ImportWriting.Place) {
        guard !text.trimmed.isEmpty else { return }
        guard let date = ImportDate(text), date.isInDoubt else {
            // A table uses one date format. So unless an earlier date was ambiguous, no later one can be.
            isUndecided = doubt != nil
            return
        }
        let dated = left.compactMap { order in date.day(order).map { (order, $0) } }
        let past = dated.filter { $0.1 <= latest }
        // If no possible date is in the past, keep the future ones: parsing throws later.
        let found = past.isEmpty ? dated : past
        guard !found.isEmpty else { return }
        let rising = found.filter { order, day in day >= days[order] ?? .min }
        // The dates decrease in every order, so keep any order: parsing throws later.
        left = (rising.isEmpty ? found.prefix(1) : rising[...]).map(\.0)
        days = Dictionary(uniqueKeysWithValues: found)
        hasHalves = hasHalves || date.hasHalf
        isUndecided = left.count > 1
        guard isUndecided else { return doubt = nil }
        guard doubt == nil else { return }
        let options = left.map { "--column \("\(column.visible):\($0.rawValue)".shellWord)" }
        doubt = ImportError(
            .ambiguous, line: place.line, column: place.column,
            "\"\(text.visible)\" can be one of \(left.count) dates, and no line tells which",
            remedy: "say the order of day and month: \(options.joined(separator: " or "))")
    }

    /// Assumes month first if times have AM or PM, as most programs that write these do.
    mutating func settle() {
        guard isUndecided, doubt != nil, hasHalves, left.contains(.mdy) else { return }
        (left, isUndecided, doubt, isAssumed) = ([.mdy], false, nil, true)
    }
}

/// Decides whether commas in quoted numbers are decimal signs or group thousands.
private struct DecimalSigns: Sendable {
    private(set) var sign: DecimalSign?
    private(set) var doubt: ImportError?

    init(sign: DecimalSign?) { self.sign = sign }

    mutating func note(_ field: ArraySlice<UInt8>, at place: ImportWriting.Place, _ isPossible: (Double) -> Bool) {
        guard let comma = field.firstIndex(of: UInt8(ascii: ",")) else {
            if field.contains(UInt8(ascii: ".")), NumberText.value(field, comma: false) != nil { decide(.point) }
            return
        }
        let large = NumberText.ungrouped(field).flatMap { NumberText.value($0[...], comma: false) }
        let small = NumberText.value(field, comma: true)
        switch (small, large) {
        case (_?, nil): decide(.comma)
        case (nil, _?): decide(.point)
        case (let small?, let large?) where !isPossible(large) && isPossible(small): decide(.comma)
        case (_?, _?) where doubt == nil:
            let text = String(decoding: field.prefix(30), as: UTF8.self)
            let (whole, rest) = (text.prefix(comma - field.startIndex), text.dropFirst(comma - field.startIndex + 1))
            doubt = ImportError(
                .ambiguous, line: place.line, column: place.column,
                "\"\(text)\" can be \(whole).\(rest) or \(whole)\(rest), and no line tells which",
                remedy: "say what separates decimals: --column decimal=comma or --column decimal=point")
        default: break
        }
    }

    private mutating func decide(_ sign: DecimalSign) { (self.sign, doubt) = (sign, nil) }
}

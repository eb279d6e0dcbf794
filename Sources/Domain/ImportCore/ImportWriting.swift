/// What a comma in a number is. The raw value is what a person types.
package enum DecimalSign: String, CaseIterable, Sendable {
    case comma
    /// A comma, if any, groups thousands.
    case point
}

/// How a table writes what can be read in two ways: the order of a date's numbers, and a comma within a number where commas
/// separate columns. A person may say it; otherwise the lines tell it together.
struct ImportWriting: Sendable {
    typealias Place = (line: Int, column: String)

    private var dates: DateOrders
    private var numbers: DecimalSigns

    init(_ options: ImportOptions, isSeparatedByComma: Bool) {
        dates = DateOrders(options)
        numbers = DecimalSigns(sign: options.decimal ?? (isSeparatedByComma ? nil : .comma))
    }

    /// The order of dates, if it is known.
    var order: DateOrder? { dates.known }
    /// What a comma in a number is. Before one was seen, it is refused.
    var decimal: DecimalSign? { numbers.sign }
    /// Whether a line can still tell something.
    var isUndecided: Bool { dates.isUndecided || numbers.sign == nil }
    /// What can be meant in two ways; nil if nothing.
    var doubt: ImportError? { dates.doubt ?? numbers.doubt }
    /// What was assumed, a sentence.
    var remark: String? {
        dates.isAssumed ? "dates are taken as month/day/year, since their times have AM and PM" : nil
    }

    /// Takes a line's date and time into account.
    ///
    /// - Parameter column: how a person says the column that has the date, such as `time=Time`.
    mutating func note(date: ArraySlice<UInt8>, _ column: String, at place: ImportWriting.Place) {
        guard dates.isUndecided else { return }
        dates.note(String(decoding: date.prefix(40), as: UTF8.self), column, at: place)
    }

    /// Takes a number into account.
    ///
    /// - Parameter isPossible: whether a meter can measure so much.
    mutating func note(number: ArraySlice<UInt8>, at place: ImportWriting.Place, _ isPossible: (Double) -> Bool) {
        guard numbers.sign == nil else { return }
        numbers.note(number, at: place, isPossible)
    }

    /// Decides what is in doubt as best it can.
    mutating func settle() throws(ImportError) {
        dates.settle()
        if let doubt { throw doubt }
    }
}

/// The orders of a table's dates that no line has ruled out: one with a thirteenth month, and one in which time goes back where it
/// does not in another.
private struct DateOrders: Sendable {
    private var left: [DateOrder]
    /// The last line's days since 1970.
    private var days: [DateOrder: Int64] = [:]
    private(set) var isUndecided: Bool
    private(set) var doubt: ImportError?
    private var hasHalves = false
    private(set) var isAssumed = false
    /// In days since 1970, wherever on earth.
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
            // A table has its times in one form.
            isUndecided = doubt != nil
            return
        }
        let dated = left.compactMap { order in date.day(order).map { (order, $0) } }
        let past = dated.filter { $0.1 <= latest }
        // Reading the line reports a date that cannot be, or that lies in the future.
        let found = past.isEmpty ? dated : past
        guard !found.isEmpty else { return }
        let rising = found.filter { order, day in day >= days[order] ?? .min }
        // Where time goes back in every order, any of them shows it.
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

    /// Programs that write AM and PM mostly put the month first.
    mutating func settle() {
        guard isUndecided, doubt != nil, hasHalves, left.contains(.mdy) else { return }
        (left, isUndecided, doubt, isAssumed) = ([.mdy], false, nil, true)
    }
}

/// What a comma in a number of a table is that is separated by commas: such a number is in quotes.
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

/// Wall-clock time, for display and for stored samples.
package struct WallTime: Hashable, Comparable, Sendable {
    package var millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.millisecondsSince1970 < rhs.millisecondsSince1970 }

    /// Clamps to Int64.
    package static func + (lhs: Self, rhs: Duration) -> Self {
        let step = rhs.milliseconds
        let (sum, overflow) = lhs.millisecondsSince1970.addingReportingOverflow(step)
        return Self(millisecondsSince1970: overflow ? (step < 0 ? .min : .max) : sum)
    }
}

extension WallTime: CustomStringConvertible {
    /// RFC 3339 in UTC, `2026-11-21T13:40:05.250Z`; years are clamped to 0 to 9999.
    package var description: String {
        let dayLength: Int64 = 86_400_000
        // 0000-01-01 and the last millisecond of 9999, so that four digits always suffice.
        let clamped = min(max(millisecondsSince1970, -62_167_219_200_000), 253_402_300_799_999)
        let days = clamped >= 0 ? clamped / dayLength : (clamped - dayLength + 1) / dayLength
        let milliseconds = clamped - days * dayLength
        let (year, month, day) = Self.civil(fromDays: days)
        let seconds = milliseconds / 1000
        let form: StaticString = "0000-00-00T00:00:00.000Z"
        // A heartbeat's answer contains two of these for each lease, so avoid temporary strings.
        return String(unsafeUninitializedCapacity: form.utf8CodeUnitCount) { text in
            for place in text.indices { text[place] = form.utf8Start[place] }
            func write(_ number: Int64, endingAt end: Int) {
                var (rest, place) = (number, end)
                while rest > 0 {
                    text[place] += UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                    place -= 1
                }
            }
            write(year, endingAt: 3)
            write(month, endingAt: 6)
            write(day, endingAt: 9)
            write(seconds / 3600, endingAt: 12)
            write(seconds / 60 % 60, endingAt: 15)
            write(seconds % 60, endingAt: 18)
            write(milliseconds % 1000, endingAt: 22)
            return form.utf8CodeUnitCount
        }
    }

    /// Returns the Gregorian date of a number of days since 1970. Years begin in March internally, so that a leap day
    /// comes last.
    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

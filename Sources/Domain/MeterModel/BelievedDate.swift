/// Assumed present date, from which meterd computes the age of stored data before deleting it. The system clock can be
/// wrong: without a clock battery it starts in 1970, and one bad time server sets it to 2099.
///
/// The date starts at the newest stored date. It approaches a *confirmed* system clock by at most a day per hour of
/// running, and skips dates without data. It follows an earlier clock immediately, because that only delays deletion.
/// Data stored under an unconfirmed clock counts as stored at the next confirmation.
package struct BelievedDate: Hashable, Sendable {
    /// Range of dates that come from an unconfirmed system clock.
    package struct Doubt: Hashable, Sendable {
        package var first: WallTime
        package var last: WallTime
        /// Date from which the data's age counts; nil until the clock is confirmed.
        package var confirmed: WallTime?

        package init(first: WallTime, last: WallTime, confirmed: WallTime? = nil) {
            self.first = first
            self.last = last
            self.confirmed = confirmed
        }
    }

    package private(set) var date: WallTime
    /// Oldest first; at most `doubtsMax`.
    package private(set) var doubts: [Doubt]

    private static let pace = 24
    /// Maximum number of `doubts`; if there are more, the two oldest are merged.
    private static let doubtsMax = 32
    /// Extension of a `Doubt` into the future. Without it, a host whose clock is never confirmed would save the `Doubt`
    /// at each reading.
    private static let reach = Duration.seconds(86_400)
    /// Age after which a confirmed `Doubt` is removed; no data is kept longer.
    private static let forgotten = Duration.seconds(20 * 366 * 86_400)

    package init(date: WallTime, doubts: [Doubt] = []) {
        self.date = date
        self.doubts = doubts
    }

    /// - Parameters:
    ///   - newest: newest date in the store; nil if that is empty.
    ///   - calendar: the system clock's date; used if earlier than `newest`.
    package init(newest: WallTime?, calendar: WallTime) {
        self.init(date: min(newest ?? calendar, calendar))
    }

    /// - Parameters:
    ///   - running: duration since the last call.
    ///   - next: date of the earliest data stored after `date`; nil if there is none.
    package mutating func advance(toConfirmed calendar: WallTime, running: Duration, next: WallTime?) {
        confirm(calendar)
        let skipped = max(date, min(next ?? calendar, calendar))
        let step = max(running, .zero) * Self.pace
        date = min(skipped + step, calendar)
        doubts.removeAll { doubt in doubt.confirmed.map { $0 + Self.forgotten < date } ?? false }
    }

    /// Starts the ageing of data in the unconfirmed ranges.
    package mutating func confirm(_ calendar: WallTime) {
        for index in doubts.indices where doubts[index].confirmed == nil { doubts[index].confirmed = calendar }
    }

    /// Records dates of data stored under an unconfirmed system clock. Returns whether `doubts` changed.
    @discardableResult
    package mutating func doubt(_ span: ClosedRange<WallTime>) -> Bool {
        for index in doubts.indices where doubts[index].confirmed == nil {
            let known = doubts[index]
            if known.first <= span.lowerBound, span.upperBound <= known.last { return false }
            // After a jump of the clock, begin another `Doubt`, because the dates between the two are trusted.
            guard span.lowerBound <= known.last + Self.reach, known.first <= span.upperBound + Self.reach else {
                continue
            }
            doubts[index].first = min(known.first, span.lowerBound)
            doubts[index].last = max(known.last, span.upperBound + Self.reach)
            return true
        }
        doubts.append(Doubt(first: span.lowerBound, last: span.upperBound + Self.reach))
        if doubts.count > Self.doubtsMax { joinOldest() }
        return true
    }

    package func isOlder(_ time: WallTime, than age: Duration) -> Bool {
        let limit = date + (.zero - age)
        guard time < limit else { return false }
        return !doubts.contains { doubt in
            doubt.first <= time && time <= doubt.last && (doubt.confirmed.map { $0 >= limit } ?? true)
        }
    }

    /// Merges the two oldest ranges, without shortening how long their data is kept.
    private mutating func joinOldest() {
        let second = doubts.remove(at: 1)
        doubts[0].first = min(doubts[0].first, second.first)
        doubts[0].last = max(doubts[0].last, second.last)
        if let a = doubts[0].confirmed, let b = second.confirmed {
            doubts[0].confirmed = max(a, b)
        } else {
            doubts[0].confirmed = nil
        }
    }
}

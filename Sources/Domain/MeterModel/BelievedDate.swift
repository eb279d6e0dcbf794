/// The date from which the ages of what is stored count back, because a calendar alone is not to be trusted with
/// deletions: a machine without a clock of its own starts in 1970, and one bad answer takes it to 2099.
///
/// It begins with the newest date stored, and moves towards a *confirmed* calendar by at most a day for each hour of
/// running, but skips time in which nothing was stored. A calendar that says less is followed at once: that deletes
/// later, never earlier. What was stored under an unconfirmed calendar counts as stored at the next confirmation.
package struct BelievedDate: Hashable, Sendable {
    /// Dates that an unconfirmed calendar gave to what was stored.
    package struct Doubt: Hashable, Sendable {
        package var first: WallTime
        package var last: WallTime
        /// From when on the age of it counts; nil until a calendar is confirmed.
        package var confirmed: WallTime?

        package init(first: WallTime, last: WallTime, confirmed: WallTime? = nil) {
            self.first = first
            self.last = last
            self.confirmed = confirmed
        }
    }

    package private(set) var date: WallTime
    /// At most `doubtsMax`, in the order in which they came.
    package private(set) var doubts: [Doubt]

    /// A day for each hour of running.
    private static let pace = 24
    /// Beyond it the two oldest become one.
    private static let doubtsMax = 32
    /// Marked ahead, so that a host whose calendar is never confirmed has not to write it down with each reading.
    private static let reach = Duration.seconds(86_400)
    /// Nothing is kept by age for longer: a doubt that is older than this by the believed date holds nothing up.
    private static let forgotten = Duration.seconds(20 * 366 * 86_400)

    /// As it was stored.
    package init(date: WallTime, doubts: [Doubt] = []) {
        self.date = date
        self.doubts = doubts
    }

    /// For a store that has none yet.
    ///
    /// - Parameters:
    ///   - newest: the newest date in the store; nil where it is empty.
    ///   - calendar: of now. Where it says less than the store, it is the safer of the two.
    package init(newest: WallTime?, calendar: WallTime) {
        self.init(date: min(newest ?? calendar, calendar))
    }

    /// Time goes on.
    ///
    /// - Parameters:
    ///   - running: since the last call.
    ///   - next: the earliest thing stored after `date`; nil where there is nothing.
    package mutating func advance(toConfirmed calendar: WallTime, running: Duration, next: WallTime?) {
        confirm(calendar)
        let skipped = max(date, min(next ?? calendar, calendar))
        let step = max(running, .zero) * Self.pace
        date = min(skipped + step, calendar)
        doubts.removeAll { doubt in doubt.confirmed.map { $0 + Self.forgotten < date } ?? false }
    }

    /// A calendar is confirmed: from its date on the ages count of what was stored before.
    package mutating func confirm(_ calendar: WallTime) {
        for index in doubts.indices where doubts[index].confirmed == nil { doubts[index].confirmed = calendar }
    }

    /// Something is stored now under a calendar that nobody confirms.
    ///
    /// - Returns: whether that was not known yet.
    @discardableResult
    package mutating func doubt(_ span: ClosedRange<WallTime>) -> Bool {
        for index in doubts.indices where doubts[index].confirmed == nil {
            let known = doubts[index]
            if known.first <= span.lowerBound, span.upperBound <= known.last { return false }
            // What goes on is one; a step of the calendar begins another, so that the years between are not doubted.
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

    /// Whether something that was stored at a date is older than `age`.
    package func isOlder(_ time: WallTime, than age: Duration) -> Bool {
        let limit = date + (.zero - age)
        guard time < limit else { return false }
        return !doubts.contains { doubt in
            doubt.first <= time && time <= doubt.last && (doubt.confirmed.map { $0 >= limit } ?? true)
        }
    }

    /// Deletes later than either would alone.
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

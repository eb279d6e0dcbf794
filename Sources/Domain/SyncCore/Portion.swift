/// Number of records per request. A timeout halves the number, so that a slow link or busy cloud does not get the same
/// load repeatedly. An answer to a full portion doubles it.
struct Portion: Hashable, Sendable {
    /// Limit after a timeout; nil while the configured number applies.
    private var limit: Int?

    /// - Parameter most: the configured number, at least 1.
    func records(of most: Int) -> Int { min(most, limit ?? most) }

    /// - Parameter count: number of records that the request contained or requested.
    mutating func unanswered(_ count: Int) { limit = max(1, count / 2) }

    /// Doubles the limit. Ignores an answer to a request below the limit.
    mutating func answered(_ count: Int, of most: Int) {
        guard let limit, count >= limit else { return }
        self.limit = limit < most / 2 ? limit * 2 : nil
    }
}

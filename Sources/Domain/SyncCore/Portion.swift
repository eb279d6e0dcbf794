/// How many records one request carries. Half as many after a request that got no answer, so that what a slow link or a
/// busy cloud cannot answer in time is not sent again and again as a whole; twice as many after one of that size that got
/// one.
struct Portion: Hashable, Sendable {
    /// Nil where the configured number holds.
    private var limit: Int?

    /// - Parameter most: the configured number, at least 1.
    func records(of most: Int) -> Int { min(most, limit ?? most) }

    /// - Parameter count: number of records that the request carried, or asked for.
    mutating func unanswered(_ count: Int) { limit = max(1, count / 2) }

    /// A smaller request than allowed tells nothing.
    mutating func answered(_ count: Int, of most: Int) {
        guard let limit, count >= limit else { return }
        self.limit = limit < most / 2 ? limit * 2 : nil
    }
}

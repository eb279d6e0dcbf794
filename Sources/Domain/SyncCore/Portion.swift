/// Number of records per request: halved after a timeout, for slow links and a busy cloud, and doubled after an answer
/// to a full request.
struct Portion: Hashable, Sendable {
    /// Maximum records per request; nil means the configured number.
    private var limit: Int?

    func records(of most: Int) -> Int { min(most, limit ?? most) }

    mutating func unanswered(_ count: Int) { limit = max(1, count / 2) }

    /// Doubles the limit, unless the request was below it.
    mutating func answered(_ count: Int, of most: Int) {
        guard let limit, count >= limit else { return }
        self.limit = limit < most / 2 ? limit * 2 : nil
    }
}

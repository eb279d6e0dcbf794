/// The topics for which the broker has refused a message since the link came up.
struct RefusedTopics: Sendable {
    /// Most topics kept, whatever a broker refuses.
    static let countMax = 100

    private var topics: Set<String> = []

    var count: Int { topics.count }

    /// - Returns: whether it is the first refusal for this topic. A line for each would be one for every reading.
    mutating func record(_ topic: String) -> Bool {
        topics.count < Self.countMax && topics.insert(topic).inserted
    }

    mutating func removeAll() { topics = [] }
}

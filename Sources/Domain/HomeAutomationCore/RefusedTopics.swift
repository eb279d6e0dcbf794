/// Topics for which the broker refused a message since the link came up.
struct RefusedTopics: Sendable {
    static let countMax = 100

    private var topics: Set<String> = []

    var count: Int { topics.count }

    /// - Returns: whether it is the topic's first refusal. Logging each would give a line per reading.
    mutating func record(_ topic: String) -> Bool {
        topics.count < Self.countMax && topics.insert(topic).inserted
    }

    mutating func removeAll() { topics = [] }
}

/// Topics with a refused message since the link came up.
struct RefusedTopics: Sendable {
    static let countMax = 100

    private var topics: Set<String> = []

    var count: Int { topics.count }

    /// Returns whether it is the first refusal for the topic, because logging each would write a line per reading.
    mutating func record(_ topic: String) -> Bool {
        topics.count < Self.countMax && topics.insert(topic).inserted
    }

    mutating func removeAll() { topics = [] }
}

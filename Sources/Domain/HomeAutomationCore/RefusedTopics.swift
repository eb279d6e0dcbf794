struct RefusedTopics: Sendable {
    static let countMax = 100

    private var topics: Set<String> = []

    var count: Int { topics.count }

    /// Returns whether to log the refusal: only the first one of a topic, because otherwise each reading could write a
    /// line.
    mutating func record(_ topic: String) -> Bool {
        topics.count < Self.countMax && topics.insert(topic).inserted
    }

    mutating func removeAll() { topics = [] }
}

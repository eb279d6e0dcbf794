package import CloudAPI

package protocol ReplicaLink: Sendable {
    /// - Throws: `notFound` if another replica answers; any error if none does.
    func tell(_ news: ReplicaNewsBody, at address: String, key: String) async throws -> ReplicaNewsAnswer
    /// - Throws: the other replica's refusal; `rateLimited` if it cannot be reached.
    func ask(_ question: ReplicaQuestionBody, at address: String, key: String) async throws(CloudFailure)
        -> ReplicaAnswerBody
}

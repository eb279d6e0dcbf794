package import CloudAPI

package protocol CopyLink: Sendable {
    /// - Parameter key: shared secret of the replicas.
    /// - Throws: `notFound` if another replica answers; any error if none does.
    func tell(_ news: CopyNewsBody, at address: String, key: String) async throws -> CopyNewsAnswer
    /// - Throws: the other replica's refusal; `rateLimited` if it cannot be reached.
    func ask(_ question: CopyQuestionBody, at address: String, key: String) async throws(CloudFailure) -> CopyAnswerBody
}

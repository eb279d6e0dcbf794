package import CloudAPI

/// How one copy of the cloud reaches another. Each call is one request.
package protocol CopyLink: Sendable {
    /// - Parameter key: the secret of all copies of this cloud.
    /// - Throws: `notFound` where another copy is reached, or any error where none is.
    func tell(_ news: CopyNewsBody, at address: String, key: String) async throws -> CopyNewsAnswer
    /// - Throws: the other copy's refusal; `rateLimited` where it cannot be reached.
    func ask(_ question: CopyQuestionBody, at address: String, key: String) async throws(CloudFailure) -> CopyAnswerBody
}

/// A holder's right to communicate with a meter. Times are on its monotonic clock, and count from sending the last
/// successful request.
package struct LeasePermit: Hashable, Sendable {
    package var token: FencingToken
    package var terms: LeaseTerms
    package var sentAt: MonotonicTime

    package init(token: FencingToken, terms: LeaseTerms, sentAt: MonotonicTime) {
        self.token = token
        self.terms = terms
        self.sentAt = sentAt
    }

    package var jeopardyAt: MonotonicTime { sentAt + terms.jeopardy }
    package var hardStopAt: MonotonicTime { sentAt + terms.hardStop }
    package var expiresAt: MonotonicTime { sentAt + terms.timeToLive }
}

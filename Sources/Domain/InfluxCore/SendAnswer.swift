/// A server's answer to a batch, classified by the required reaction.
package enum SendAnswer: Hashable, Sendable {
    case taken
    /// Some points were rejected for good: their type differs from that of stored points, or they are older than the
    /// retention.
    ///
    /// - Parameter dropped: number of rejected points; nil if not reported, which counts as all.
    case partly(dropped: Int?, String)
    /// The whole batch was rejected, because of at least one point or because of the request.
    case unwanted(String)
    case tooLarge
    /// The server is busy, failing or unreachable. `after` is the requested delay; nil if none.
    case later(
        after: Duration?, String, next: String = "see whether it runs and can be reached, and [influx] url")
    /// Nothing is accepted until a user corrects the access token, the bucket or the URL.
    case refused(String, next: String)
}

package struct SendBatch: Hashable, Sendable {
    /// Time of each meter's last reading in the batch.
    package var ends: [MeterID: WallTime] = [:]
    package var points = 0
    /// Whether the store has further readings.
    package var isFull = false

    package init() {}
}

/// Reason why no readings are sent.
package struct SendTrouble: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case unreachable
        /// A user must correct the configuration.
        case refused
        case unwanted
        /// The store cannot be read.
        case store
    }

    package var kind: Kind
    package var cause: String
    package var next: String

    package init(_ kind: Kind, _ cause: String, next: String) {
        self.kind = kind
        self.cause = cause
        self.next = next
    }
}

/// Events for the log, reported once instead of at each attempt.
package enum SendNews: Hashable, Sendable {
    case interrupted(SendTrouble)
    case resumed
    /// - Parameter points: number rejected since the last such event.
    case rejected(points: Int, String)
}

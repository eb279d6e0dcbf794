/// A server's answer to a batch of points, as far as it decides the next step.
package enum SendAnswer: Hashable, Sendable {
    case taken
    /// The server rejects the rest for good: another type, or too old for its retention.
    ///
    /// - Parameter dropped: number rejected; nil, if the server did not say, counts as all.
    case partly(dropped: Int?, String)
    /// All rejected, because of at least one point or because of the request.
    case unwanted(String)
    case tooLarge
    /// The server is busy, failing or out of reach. `after` is the delay that it asked for.
    case later(
        after: Duration?, String, next: String = "see whether it runs and can be reached, and [influx] url")
    /// A user must first correct the token or the bucket.
    case refused(String, next: String)
}

package struct SendBatch: Hashable, Sendable {
    /// Time of each meter's last reading in the batch.
    package var ends: [MeterID: WallTime] = [:]
    package var points = 0
    /// Whether the store has more than fits.
    package var isFull = false

    package init() {}
}

/// Reason why the server gets nothing.
package struct SendTrouble: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The server is out of reach or reports a failure.
        case unreachable
        /// A user must correct something.
        case refused
        /// The server rejects everything.
        case unwanted
        /// This host's store cannot be read.
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

/// Events for the log, each once instead of at each attempt.
package enum SendNews: Hashable, Sendable {
    case interrupted(SendTrouble)
    case resumed
    /// - Parameter points: number since the last such event.
    case rejected(points: Int, String)
}

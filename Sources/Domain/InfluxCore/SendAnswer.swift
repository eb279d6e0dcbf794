/// A server's answer to a batch of points, reduced to the cases that need different reactions.
package enum SendAnswer: Hashable, Sendable {
    case taken
    /// The server permanently rejects some points: their type differs, or they are too old for its retention.
    ///
    /// - Parameter dropped: number of rejected points; nil if the server did not report it, which counts as all.
    case partly(dropped: Int?, String)
    /// The server rejects all points, because of at least one point or because of the request.
    case unwanted(String)
    case tooLarge
    /// The server is busy, failing or unreachable. `after` is the delay that it requested.
    case later(
        after: Duration?, String, next: String = "see whether it runs and can be reached, and [influx] url")
    /// No batch is accepted until a user corrects the configuration: the token, the bucket or the URL.
    case refused(String, next: String)
}

package struct SendBatch: Hashable, Sendable {
    /// Time of each meter's last reading in the batch.
    package var ends: [MeterID: WallTime] = [:]
    package var points = 0
    /// Whether the store has more readings than fit into the batch.
    package var isFull = false

    package init() {}
}

/// Reason why no readings are sent to the server.
package struct SendTrouble: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The server is unreachable or reports a failure.
        case unreachable
        /// No batch is accepted until a user corrects the configuration.
        case refused
        /// The server rejects all points.
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

/// Events for the log. Each is reported once instead of at each attempt.
package enum SendNews: Hashable, Sendable {
    case interrupted(SendTrouble)
    case resumed
    /// - Parameter points: number of points rejected since the last such event.
    case rejected(points: Int, String)
}

/// What a server said to a batch of points, as far as it matters what to do next.
package enum SendAnswer: Hashable, Sendable {
    case taken
    /// It took what it could. The rest it would not take later either: of another type, or too old for its retention.
    ///
    /// - Parameter dropped: how many it did not take; nil if it did not say, which counts as all of them.
    case partly(dropped: Int?, String)
    /// It took none of them, for what at least one of them is, or for how it was asked.
    case unwanted(String)
    /// More at once than it takes.
    case tooLarge
    /// It is busy, in trouble, or out of reach. After the time that it named, if it named one.
    case later(
        after: Duration?, String, next: String = "see whether it runs and can be reached, and [influx] url")
    /// It will not take anything before somebody corrects something: the token, the bucket.
    case refused(String, next: String)
}

/// What was read to be sent.
package struct SendBatch: Hashable, Sendable {
    /// The time of the last reading of each meter in it.
    package var ends: [MeterID: WallTime] = [:]
    package var points = 0
    /// There is more to be read than fits.
    package var isFull = false

    package init() {}
}

/// Why a server gets nothing at present.
package struct SendTrouble: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The server is away or says that it cannot.
        case unreachable
        /// Somebody has to correct something.
        case refused
        /// It takes nothing of what it is sent.
        case unwanted
        /// This host's store cannot be read.
        case store
    }

    package var kind: Kind
    package var cause: String
    /// What to do about it.
    package var next: String

    package init(_ kind: Kind, _ cause: String, next: String) {
        self.kind = kind
        self.cause = cause
        self.next = next
    }
}

/// What is worth a line in a log: each once, not at each attempt.
package enum SendNews: Hashable, Sendable {
    case interrupted(SendTrouble)
    case resumed
    /// - Parameter points: since this was last told.
    case rejected(points: Int, String)
}

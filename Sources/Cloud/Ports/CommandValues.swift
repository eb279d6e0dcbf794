package import CloudAPI
package import Domain

// Values that engines store for commands between hosts (Docs/Relay.md#commands).

/// Content of a command request. Requests with the same id and content are the same command.
package struct CommandWish: Codable, Hashable, Sendable {
    package var author: String
    package var meter: String
    /// Fencing token of the lease for which the command is meant.
    package var token: UInt64
    package var action: RelayActionBody

    package init(author: HostID, meter: String, token: UInt64, action: RelayActionBody) {
        self.author = author.description
        self.meter = meter
        self.token = token
        self.action = action
    }
}

/// A command that the meter's holder has claimed, or that ended without a claim. No replica grants another claim.
package struct StoredCommand: Codable, Hashable, Sendable {
    package var wish: CommandWish
    package var holder: String
    package var holderName: String
    /// Outcome; nil while unknown.
    package var outcome: RelayCommandAnswer?

    package init(_ wish: CommandWish, holder: HostID, holderName: String, outcome: RelayCommandAnswer? = nil) {
        self.wish = wish
        self.holder = holder.description
        self.holderName = holderName
        self.outcome = outcome
    }
}

package struct CommandDecision<Answer: Sendable>: Sendable {
    /// Command to store; nil keeps the stored one.
    package var command: StoredCommand?
    package var answer: Answer

    package init(_ answer: Answer, storing command: StoredCommand? = nil) {
        self.command = command
        self.answer = answer
    }
}

package struct CommandCounts: Hashable, Sendable {
    package var host: Int
    package var zone: Int

    package static let none = CommandCounts(host: 0, zone: 0)

    package init(host: Int, zone: Int) {
        self.host = host
        self.zone = zone
    }
}

/// A version of a stored command; `mark` changes with each version.
package struct CommandMark: Hashable, Sendable {
    package var zone: String
    package var requestID: RequestID
    package var author: String
    package var mark: Int64

    package init(zone: String, requestID: RequestID, author: String, mark: Int64) {
        self.zone = zone
        self.requestID = requestID
        self.author = author
        self.mark = mark
    }
}

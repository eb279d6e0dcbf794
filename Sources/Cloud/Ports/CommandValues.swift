package import CloudAPI
package import Domain

// What engines keep about commands from one host to another (Docs/Relay.md#commands).

/// What a host wants done. Two requests under one id are the same command if this is equal.
package struct CommandWish: Codable, Hashable, Sendable {
    /// Id of the host that sent it.
    package var author: String
    /// The meter, under the id that the author gave.
    package var meter: String
    /// Of the lease at which it is aimed.
    package var token: UInt64
    package var action: RelayActionBody

    package init(author: HostID, meter: String, token: UInt64, action: RelayActionBody) {
        self.author = author.description
        self.meter = meter
        self.token = token
        self.action = action
    }
}

/// A command that its holder has claimed, or that ended without a claim: no copy of the cloud grants a claim of it any
/// more.
package struct StoredCommand: Codable, Hashable, Sendable {
    package var wish: CommandWish
    /// Id of the host that had the lease.
    package var holder: String
    package var holderName: String
    /// Nil while it is not known.
    package var outcome: RelayCommandAnswer?

    package init(_ wish: CommandWish, holder: HostID, holderName: String, outcome: RelayCommandAnswer? = nil) {
        self.wish = wish
        self.holder = holder.description
        self.holderName = holderName
        self.outcome = outcome
    }
}

/// What a rule decided about a command.
package struct CommandDecision<Answer: Sendable>: Sendable {
    /// The command to store. If nil, the stored one stays as it is.
    package var command: StoredCommand?
    package var answer: Answer

    package init(_ answer: Answer, storing command: StoredCommand? = nil) {
        self.command = command
        self.answer = answer
    }
}

/// Numbers of stored commands.
package struct CommandCounts: Hashable, Sendable {
    /// Of one author in one zone.
    package var host: Int
    /// Of all authors in that zone.
    package var zone: Int

    package static let none = CommandCounts(host: 0, zone: 0)

    package init(host: Int, zone: Int) {
        self.host = host
        self.zone = zone
    }
}

/// A stored command as it was at some moment.
package struct CommandMark: Hashable, Sendable {
    package var zone: String
    package var requestID: RequestID
    package var author: String
    /// Changes with each change of the command.
    package var mark: Int64

    package init(zone: String, requestID: RequestID, author: String, mark: Int64) {
        self.zone = zone
        self.requestID = requestID
        self.author = author
        self.mark = mark
    }
}
